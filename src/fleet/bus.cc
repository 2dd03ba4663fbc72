#include "fleet/bus.h"

#include <arpa/inet.h>
#include <nats/nats.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "base/secret_file.h"
#include "fleet/names.h"
#include "fleet/nkey.h"

namespace ttyward::fleet {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;

constexpr int64_t kNanosPerMs = 1'000'000;
constexpr int64_t kCallMs = 5'000;
constexpr int64_t kConnectMs = 3'000;
constexpr int64_t kDayNs = 24LL * 3600 * 1'000'000'000;
// Silence after which a connection counts as cut: two pings.
constexpr int64_t kPingMs = 3'000;
constexpr int kReconnectMs = 100;

template <class T, void (*destroy)(T*)>
struct Destroyer {
  void operator()(T* it) const { destroy(it); }
};
using Options = std::unique_ptr<natsOptions, Destroyer<natsOptions, natsOptions_Destroy>>;
using Connection = std::unique_ptr<natsConnection, Destroyer<natsConnection, natsConnection_Destroy>>;
using Message = std::unique_ptr<natsMsg, Destroyer<natsMsg, natsMsg_Destroy>>;
using Context = std::unique_ptr<jsCtx, Destroyer<jsCtx, jsCtx_Destroy>>;
using Store = std::unique_ptr<kvStore, Destroyer<kvStore, kvStore_Destroy>>;
using Item = std::unique_ptr<kvEntry, Destroyer<kvEntry, kvEntry_Destroy>>;
using Raw = std::unique_ptr<natsSubscription, Destroyer<natsSubscription, natsSubscription_Destroy>>;

tl::unexpected<base::Error> failed(natsStatus status, int code, const std::string& what) {
  ErrorCode kind = ErrorCode::Unavailable;
  if (code == JSStreamWrongLastSequenceErr) {
    kind = ErrorCode::AlreadyExists;
  } else if (code == JSStreamStoreFailedErr || code == JSInsufficientResourcesErr ||
             code == JSStorageResourcesExceededErr) {
    kind = ErrorCode::Exhausted;
  } else if (status == NATS_NOT_FOUND) {
    kind = ErrorCode::NotFound;
  } else if (status == NATS_NOT_PERMITTED || status == NATS_CONNECTION_AUTH_FAILED) {
    kind = ErrorCode::PermissionDenied;
  } else if (status == NATS_MAX_PAYLOAD) {
    kind = ErrorCode::InvalidArgument;
  }
  const char* detail = nullptr;
  if (status != NATS_TIMEOUT) detail = nats_GetLastError(nullptr);
  std::string why = detail != nullptr && *detail != '\0' ? detail : natsStatus_GetText(status);
  // "(conn.c:2088): …": where in the library is of no use to people.
  if (const size_t end = why.find("): "); why.starts_with("(") && end != std::string::npos)
    why.erase(0, end + 3);
  return base::fail(kind, what + ": " + why);
}

std::string_view text_of_message(natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<size_t>(std::max(0, natsMsg_GetDataLength(message)))};
}

// Whether the address can only be of this machine. A name counts only if it is "localhost".
bool is_loopback(const std::string& url) {
  const size_t scheme = url.find("://");
  std::string host = scheme == std::string::npos ? url : url.substr(scheme + 3);
  if (const size_t at = host.rfind('@'); at != std::string::npos) host.erase(0, at + 1);
  if (host.starts_with("[")) return host.starts_with("[::1]");
  host = host.substr(0, host.find_first_of(":/"));
  in_addr address{};
  return host == "localhost" ||
         (::inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127);
}

base::Result<std::string> first_line(const std::string& file) {
  auto secret = base::read_secret_file(file);
  if (secret) return secret;
  return base::fail(secret.error().code, secret.error().message +
                                             "; a token's file must be yours alone (mode 0600) and have at "
                                             "least 32 characters");
}

natsStatus set_access(natsOptions* options, const Access& access, base::Error& error) {
  natsStatus status = NATS_OK;
  if (!access.token_file.empty()) {
    const auto token = first_line(access.token_file);
    if (!token) {
      error = token.error();
      return NATS_ERR;
    }
    status = natsOptions_SetToken(options, token->c_str());
  }
  if (status == NATS_OK && !access.nkey_file.empty()) {
    const auto key = public_nkey_of_file(access.nkey_file);
    if (!key) {
      error = key.error();
      return NATS_ERR;
    }
    status = natsOptions_SetNKeyFromSeed(options, key->c_str(), access.nkey_file.c_str());
  }
  if (status == NATS_OK && !access.creds_file.empty())
    status = natsOptions_SetUserCredentialsFromFiles(options, access.creds_file.c_str(), nullptr);
  if (status == NATS_OK && !access.tls_ca.empty())
    status = natsOptions_LoadCATrustedCertificates(options, access.tls_ca.c_str());
  if (status == NATS_OK && !access.tls_cert.empty())
    status = natsOptions_LoadCertificatesChain(options, access.tls_cert.c_str(), access.tls_key.c_str());
  return status;
}

// Errors of the connection are seen by whoever makes a call.
void ignore_error(natsConnection*, natsSubscription*, natsStatus, void*) {}
void ignore_connection(natsConnection*, void*) {}

class Pulled final : public Puller {
 public:
  explicit Pulled(Raw subscription) : subscription_(std::move(subscription)) {}

  base::Result<std::vector<Delivery>> fetch(int count, milliseconds patience) override {
    natsMsgList list{};
    jsErrCode code{};
    natsStatus status{};
    if (count > 1) {
      // All there are, without waiting for as many as asked.
      jsFetchRequest request;
      jsFetchRequest_Init(&request);
      request.Batch = count;
      request.NoWait = true;
      request.Expires = kCallMs * kNanosPerMs;
      status = natsSubscription_FetchRequest(&list, subscription_.get(), &request);
      if (status == NATS_NOT_FOUND) status = NATS_TIMEOUT;
      if (status == NATS_TIMEOUT && list.Count == 0) {
        natsMsgList_Destroy(&list);
        list = {};
        status = natsSubscription_Fetch(&list, subscription_.get(), 1, patience.count(), &code);
      }
    } else {
      status = natsSubscription_Fetch(&list, subscription_.get(), 1, patience.count(), &code);
    }
    std::vector<Delivery> came;
    for (int i = 0; i < list.Count; i++) came.emplace_back(std::exchange(list.Msgs[i], nullptr));
    natsMsgList_Destroy(&list);
    if (status == NATS_OK || status == NATS_TIMEOUT || !came.empty()) return came;
    return failed(status, code, "cannot fetch from the queue");
  }

 private:
  Raw subscription_;
};

class Subscribed final : public Subscription {
 public:
  explicit Subscribed(std::function<void(const Incoming&)> handler) : handler_(std::move(handler)) {}
  ~Subscribed() override {
    if (!subscription_) return;
    natsSubscription_Unsubscribe(subscription_.get());
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, std::chrono::seconds(10), [this] { return over_; });
  }

  natsStatus start(natsConnection* connection, const std::string& subject) {
    natsSubscription* made = nullptr;
    const natsStatus status = natsConnection_Subscribe(&made, connection, subject.c_str(), &on_message, this);
    if (status != NATS_OK) return status;
    subscription_.reset(made);
    natsSubscription_SetPendingLimits(made, -1, 64 << 20);
    return natsSubscription_SetOnCompleteCB(made, &on_complete, this);
  }

 private:
  static void on_message(natsConnection*, natsSubscription*, natsMsg* raw, void* self) {
    const Message message(raw);
    const char* reply = natsMsg_GetReply(raw);
    static_cast<Subscribed*>(self)->handler_(
        {natsMsg_GetSubject(raw), text_of_message(raw), reply != nullptr ? reply : ""});
  }
  static void on_complete(void* self) {
    auto* it = static_cast<Subscribed*>(self);
    const std::lock_guard lock(it->mutex_);
    it->over_ = true;
    it->ended_.notify_all();
  }

  const std::function<void(const Incoming&)> handler_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;  // guarded by mutex_
  Raw subscription_;
};

std::string id_of(natsMsg* message) {
  const char* id = nullptr;
  return natsMsgHeader_Get(message, "Nats-Msg-Id", &id) == NATS_OK && id != nullptr ? id : "";
}

// Messages of publish_all() that the server refused.
struct Refused {
  std::mutex mutex;
  std::vector<std::string> ids;  // guarded by mutex
};

void on_refused(jsCtx*, jsPubAckErr* error, void* closure) {
  auto* refused = static_cast<Refused*>(closure);
  const std::lock_guard lock(refused->mutex);
  refused->ids.push_back(id_of(error->Msg));
}

class NatsBus final : public Bus {
 public:
  NatsBus(Connection connection, Context context, std::unique_ptr<Refused> refused)
      : refused_(std::move(refused)), connection_(std::move(connection)), context_(std::move(context)) {}
  ~NatsBus() override {
    stores_.clear();
    context_.reset();
    natsConnection_Close(connection_.get());
  }

  base::Result<void> lay_out(const Layout& layout) override {
    std::array<const char*, 2> jobs = {"tw1.cmd.*", "tw1.host.*.cmd"};
    jsStreamConfig queue;
    jsStreamConfig_Init(&queue);
    queue.Name = kJobStream;
    queue.Subjects = jobs.data();
    queue.SubjectsLen = static_cast<int>(jobs.size());
    queue.Retention = js_WorkQueuePolicy;
    queue.MaxAge = kDayNs;
    queue.MaxMsgs = 100'000;
    queue.MaxMsgSize = 64 << 10;
    queue.Discard = js_DiscardNew;
    queue.Duplicates = 120 * 1000 * kNanosPerMs;
    queue.Replicas = layout.replicas;
    if (auto made = make_stream(queue); !made) return made;
    std::array<const char*, 1> questions = {"tw1.ask.>"};
    jsStreamConfig inbox;
    jsStreamConfig_Init(&inbox);
    inbox.Name = kQuestionStream;
    inbox.Subjects = questions.data();
    inbox.SubjectsLen = static_cast<int>(questions.size());
    inbox.MaxAge = kDayNs;
    inbox.MaxBytes = 256LL << 20;
    inbox.MaxMsgsPerSubject = 1;
    inbox.Discard = js_DiscardOld;
    inbox.Duplicates = 120 * 1000 * kNanosPerMs;
    inbox.Replicas = layout.replicas;
    if (auto made = make_stream(inbox); !made) return made;
    if (auto made = make_bucket(kHostBucket, layout.lease.count() * kNanosPerMs, 16 << 10, layout.replicas);
        !made)
      return made;
    return make_bucket(kJobBucket, 7 * kDayNs, 64 << 10, layout.replicas);
  }

  base::Result<milliseconds> lease() override {
    kvStatus* found = nullptr;
    auto kv = store(kHostBucket);
    if (!kv) return tl::unexpected(kv.error());
    const natsStatus status = kvStore_Status(&found, *kv);
    if (status != NATS_OK) return failed(status, 0, "cannot read the bucket of hosts");
    const milliseconds ttl(kvStatus_TTL(found) / kNanosPerMs);
    kvStatus_Destroy(found);
    return ttl;
  }

  base::Result<int64_t> made_at(const char* bucket) override {
    jsStreamInfo* info = nullptr;
    jsErrCode code{};
    const std::string stream = std::string("KV_") + bucket;
    const natsStatus status = js_GetStreamInfo(&info, context_.get(), stream.c_str(), nullptr, &code);
    if (status != NATS_OK) return failed(status, code, "cannot read the bucket " + std::string(bucket));
    const int64_t made = info->Created;
    jsStreamInfo_Destroy(info);
    return made;
  }

  bool connected() const override {
    return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED;
  }

  bool closed() const override { return natsConnection_IsClosed(connection_.get()); }

  base::Result<uint64_t> publish(const std::string& subject, std::string_view text,
                                 const std::string& id) override {
    jsPubOptions options;
    jsPubOptions_Init(&options);
    if (!id.empty()) options.MsgId = id.c_str();
    jsPubAck* ack = nullptr;
    jsErrCode code{};
    const natsStatus status = js_Publish(&ack, context_.get(), subject.c_str(), text.data(),
                                         static_cast<int>(text.size()), &options, &code);
    if (status != NATS_OK) return failed(status, code, "cannot publish to " + subject);
    const uint64_t sequence = ack->Sequence;
    jsPubAck_Destroy(ack);
    return sequence;
  }

  std::vector<std::string> publish_all(const std::vector<Letter>& letters) override {
    std::vector<std::string> missing;
    for (const Letter& letter : letters) {
      jsPubOptions options;
      jsPubOptions_Init(&options);
      if (!letter.id.empty()) options.MsgId = letter.id.c_str();
      const natsStatus status = js_PublishAsync(context_.get(), letter.subject.c_str(), letter.text.data(),
                                                static_cast<int>(letter.text.size()), &options);
      if (status != NATS_OK) missing.push_back(letter.id);
    }
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = 4 * kCallMs;
    static_cast<void>(js_PublishAsyncComplete(context_.get(), &options));
    natsMsgList pending{};
    if (js_PublishAsyncGetPendingList(&pending, context_.get()) == NATS_OK) {
      for (int i = 0; i < pending.Count; i++) missing.push_back(id_of(pending.Msgs[i]));
      natsMsgList_Destroy(&pending);
    }
    const std::lock_guard lock(refused_->mutex);
    for (std::string& id : std::exchange(refused_->ids, {})) missing.push_back(std::move(id));
    return missing;
  }

  base::Result<uint64_t> queued() override {
    jsStreamInfo* info = nullptr;
    jsErrCode code{};
    const natsStatus status = js_GetStreamInfo(&info, context_.get(), kJobStream, nullptr, &code);
    if (status != NATS_OK) return failed(status, code, "cannot read the queue");
    const uint64_t count = info->State.Msgs;
    jsStreamInfo_Destroy(info);
    return count;
  }

  base::Result<bool> is_queued(uint64_t sequence) override {
    natsMsg* raw = nullptr;
    jsErrCode code{};
    const natsStatus status = js_GetMsg(&raw, context_.get(), kJobStream, sequence, nullptr, &code);
    const Message message(raw);
    if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) return false;
    if (status != NATS_OK) return failed(status, code, "cannot read the queue");
    return true;
  }

  base::Result<std::unique_ptr<Puller>> pull(const std::string& subject, const std::string& consumer,
                                             milliseconds redeliver_after) override {
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = kJobStream;
    options.Config.Durable = consumer.c_str();
    options.Config.AckPolicy = js_AckExplicit;
    options.Config.AckWait = redeliver_after.count() * kNanosPerMs;
    options.Config.MaxAckPending = 20'000;
    options.Config.FilterSubject = subject.c_str();
    natsSubscription* made = nullptr;
    jsErrCode code{};
    const natsStatus status =
        js_PullSubscribe(&made, context_.get(), subject.c_str(), consumer.c_str(), nullptr, &options, &code);
    if (status != NATS_OK) return failed(status, code, "cannot take jobs from " + subject);
    return std::unique_ptr<Puller>(std::make_unique<Pulled>(Raw(made)));
  }

  base::Result<std::vector<std::string>> last_of_each(const std::string& stream, const std::string& subjects,
                                                      size_t most) override {
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = stream.c_str();
    options.Config.DeliverPolicy = js_DeliverLastPerSubject;
    options.Config.AckPolicy = js_AckNone;
    natsSubscription* made = nullptr;
    jsErrCode code{};
    natsStatus status = js_SubscribeSync(&made, context_.get(), subjects.c_str(), nullptr, &options, &code);
    if (status != NATS_OK) return failed(status, code, "cannot read " + subjects);
    const Raw subscription(made);
    jsConsumerInfo* info = nullptr;
    status = natsSubscription_GetConsumerInfo(&info, made, nullptr, &code);
    if (status != NATS_OK) return failed(status, code, "cannot read " + subjects);
    uint64_t left = info->NumPending + info->Delivered.Consumer;
    jsConsumerInfo_Destroy(info);
    std::vector<std::string> texts;
    for (; left > 0 && texts.size() < most; left--) {
      natsMsg* raw = nullptr;
      status = natsSubscription_NextMsg(&raw, made, kCallMs);
      if (status != NATS_OK) return failed(status, 0, "cannot read " + subjects);
      const Message message(raw);
      texts.emplace_back(text_of_message(raw));
    }
    return texts;
  }

  base::Result<uint64_t> put(const std::string& bucket, const std::string& key, std::string_view value,
                             std::optional<uint64_t> expected) override {
    const std::string subject = "$KV." + bucket + "." + key;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    if (expected && *expected == 0) options.ExpectNoMessage = true;
    if (expected && *expected != 0) options.ExpectLastSubjectSeq = *expected;
    jsPubAck* ack = nullptr;
    jsErrCode code{};
    const natsStatus status = js_Publish(&ack, context_.get(), subject.c_str(), value.data(),
                                         static_cast<int>(value.size()), &options, &code);
    if (status != NATS_OK) return failed(status, code, "cannot store " + key + " in " + bucket);
    const uint64_t revision = ack->Sequence;
    jsPubAck_Destroy(ack);
    return revision;
  }

  base::Result<Entry> get(const std::string& bucket, const std::string& key) override {
    auto kv = store(bucket);
    if (!kv) return tl::unexpected(kv.error());
    kvEntry* raw = nullptr;
    const natsStatus status = kvStore_Get(&raw, *kv, key.c_str());
    if (status != NATS_OK) return failed(status, 0, "cannot read " + key + " of " + bucket);
    const Item item(raw);
    return entry_of(raw);
  }

  base::Result<std::vector<Entry>> entries(const std::string& bucket, size_t most) override {
    auto kv = store(bucket);
    if (!kv) return tl::unexpected(kv.error());
    kvWatchOptions options;
    kvWatchOptions_Init(&options);
    options.IgnoreDeletes = true;
    kvWatcher* watcher = nullptr;
    natsStatus status = kvStore_WatchAll(&watcher, *kv, &options);
    if (status != NATS_OK) return failed(status, 0, "cannot list " + bucket);
    std::vector<Entry> all;
    for (;;) {
      kvEntry* raw = nullptr;
      status = kvWatcher_Next(&raw, watcher, kCallMs);
      if (status != NATS_OK || raw == nullptr) break;  // null: these were all
      const Item item(raw);
      all.push_back(entry_of(raw));
      if (all.size() > most) all.erase(all.begin());
    }
    kvWatcher_Stop(watcher);
    kvWatcher_Destroy(watcher);
    if (status != NATS_OK) return failed(status, 0, "cannot list " + bucket);
    return all;
  }

  base::Result<void> remove(const std::string& bucket, const std::string& key) override {
    auto kv = store(bucket);
    if (!kv) return tl::unexpected(kv.error());
    const natsStatus status = kvStore_Delete(*kv, key.c_str());
    if (status != NATS_OK) return failed(status, 0, "cannot remove " + key + " from " + bucket);
    return {};
  }

  base::Result<void> send(const std::string& subject, std::string_view text) override {
    const natsStatus status = natsConnection_Publish(connection_.get(), subject.c_str(), text.data(),
                                                     static_cast<int>(text.size()));
    if (status != NATS_OK) return failed(status, 0, "cannot send to " + subject);
    return {};
  }

  base::Result<std::string> request(const std::string& subject, std::string_view text,
                                    milliseconds patience) override {
    natsMsg* raw = nullptr;
    const natsStatus status = natsConnection_Request(&raw, connection_.get(), subject.c_str(), text.data(),
                                                     static_cast<int>(text.size()), patience.count());
    const Message message(raw);
    if (status == NATS_NO_RESPONDERS)
      return base::fail(ErrorCode::NotFound, "nobody answers at " + subject + ": the host is not there");
    if (status != NATS_OK) return failed(status, 0, "no answer from " + subject);
    return std::string(text_of_message(raw));
  }

  base::Result<std::unique_ptr<Subscription>> subscribe(
      const std::string& subject, std::function<void(const Incoming&)> handler) override {
    auto made = std::make_unique<Subscribed>(std::move(handler));
    const natsStatus status = made->start(connection_.get(), subject);
    if (status != NATS_OK) return failed(status, 0, "cannot listen to " + subject);
    return std::unique_ptr<Subscription>(std::move(made));
  }

  std::string new_inbox() override {
    natsInbox* made = nullptr;
    if (natsInbox_Create(&made) != NATS_OK) return {};
    std::string inbox = made;
    natsInbox_Destroy(made);
    return inbox;
  }

 private:
  static Entry entry_of(kvEntry* raw) {
    return {
        kvEntry_Key(raw),
        std::string(static_cast<const char*>(kvEntry_Value(raw)), static_cast<size_t>(kvEntry_ValueLen(raw))),
        kvEntry_Revision(raw), kvEntry_Created(raw) / kNanosPerMs};
  }

  base::Result<void> make_stream(jsStreamConfig& wanted) {
    jsErrCode code{};
    jsStreamInfo* info = nullptr;
    natsStatus status = js_GetStreamInfo(&info, context_.get(), wanted.Name, nullptr, &code);
    if (info != nullptr) jsStreamInfo_Destroy(info);
    if (status == NATS_OK) return {};
    if (status != NATS_NOT_FOUND && code != JSStreamNotFoundErr)
      return failed(status, code, std::string("cannot use the stream ") + wanted.Name);
    status = js_AddStream(nullptr, context_.get(), &wanted, nullptr, &code);
    if (status == NATS_OK || code == JSStreamNameExistErr) return {};
    return failed(status, code, std::string("cannot make the stream ") + wanted.Name);
  }

  base::Result<void> make_bucket(const char* name, int64_t ttl_ns, int32_t longest, int replicas) {
    kvStore* made = nullptr;
    natsStatus status = js_KeyValue(&made, context_.get(), name);
    if (status == NATS_NOT_FOUND) {
      kvConfig config;
      kvConfig_Init(&config);
      config.Bucket = name;
      config.History = 1;
      config.TTL = ttl_ns;
      config.MaxValueSize = longest;
      config.StorageType = js_FileStorage;
      config.Replicas = replicas;
      status = js_CreateKeyValue(&made, context_.get(), &config);
    }
    kvStore_Destroy(made);
    // Somebody else may have made it meanwhile.
    if (status != NATS_OK && js_KeyValue(&made, context_.get(), name) == NATS_OK) {
      kvStore_Destroy(made);
      return {};
    }
    if (status != NATS_OK) return failed(status, 0, std::string("cannot use the bucket ") + name);
    return {};
  }

  base::Result<kvStore*> store(const std::string& bucket) {
    const std::lock_guard lock(mutex_);
    Store& kept = stores_[bucket];
    if (!kept) {
      kvStore* made = nullptr;
      const natsStatus status = js_KeyValue(&made, context_.get(), bucket.c_str());
      if (status == NATS_NOT_FOUND)
        return base::fail(ErrorCode::NotFound, "there is no fleet on this server yet: start a worker first");
      if (status != NATS_OK) return failed(status, 0, "cannot use the bucket " + bucket);
      kept.reset(made);
    }
    return kept.get();
  }

  const std::unique_ptr<Refused> refused_;
  const Connection connection_;
  Context context_;
  std::mutex mutex_;
  std::map<std::string, Store> stores_;  // guarded by mutex_
};

natsMsg* raw_message(void* message) {
  return static_cast<natsMsg*>(message);
}

}  // namespace

Delivery::~Delivery() {
  natsMsg_Destroy(raw_message(message_));
}
std::string_view Delivery::text() const {
  return text_of_message(raw_message(message_));
}
int64_t Delivery::stored_at_ms() const {
  jsMsgMetaData* found = nullptr;
  if (natsMsg_GetMetaData(&found, raw_message(message_)) != NATS_OK) return 0;
  const int64_t at = found->Timestamp / kNanosPerMs;
  jsMsgMetaData_Destroy(found);
  return at;
}
// What is lost of these four on its way makes the queue deliver the message again, which does no harm.
void Delivery::done() const {
  static_cast<void>(natsMsg_Ack(raw_message(message_), nullptr));
}
void Delivery::give_back(milliseconds delay) const {
  static_cast<void>(natsMsg_NakWithDelay(raw_message(message_), delay.count(), nullptr));
}
void Delivery::still_working() const {
  static_cast<void>(natsMsg_InProgress(raw_message(message_), nullptr));
}
void Delivery::discard() const {
  static_cast<void>(natsMsg_Term(raw_message(message_), nullptr));
}

base::Result<std::unique_ptr<Bus>> Bus::connect(const Access& access, const std::string& name,
                                                Patience patience) {
  if (access.servers.empty())
    return base::fail(ErrorCode::InvalidArgument,
                      "which server? Give --server nats://HOST:4222 or set TTYWARD_FLEET_SERVER");
  natsOptions* raw = nullptr;
  natsStatus status = natsOptions_Create(&raw);
  const Options options(raw);
  std::vector<const char*> servers;
  bool secure = false;
  for (const std::string& server : access.servers) {
    const size_t scheme = server.find("://");
    if (scheme != std::string::npos && !server.starts_with("nats://") && !server.starts_with("tls://"))
      return base::fail(ErrorCode::InvalidArgument, "the server " + server + " begins with " +
                                                        server.substr(0, scheme + 3) +
                                                        ": give nats://HOST:4222, or tls://HOST:4222");
    servers.push_back(server.c_str());
    const bool tls = server.starts_with("tls://") || !access.tls_ca.empty();
    secure = secure || tls;
    if (!tls && !is_loopback(server) && !access.plain_text)
      return base::fail(ErrorCode::InvalidArgument,
                        "commands and output would cross the network to " + server +
                            " readable by everybody: use tls://, or --plain-text where something else "
                            "encrypts it");
  }
  base::Error wrong;
  const auto set = [&](natsStatus next) { status = status == NATS_OK ? next : status; };
  set(natsOptions_SetServers(raw, servers.data(), static_cast<int>(servers.size())));
  set(natsOptions_SetName(raw, name.c_str()));
  set(natsOptions_SetTimeout(raw, kConnectMs));
  set(natsOptions_SetSendAsap(raw, true));  // otherwise every small message waits for a millisecond
  set(natsOptions_SetMaxReconnect(raw, -1));
  set(natsOptions_SetReconnectWait(raw, kReconnectMs));
  set(natsOptions_SetPingInterval(raw, kPingMs));
  set(natsOptions_SetMaxPingsOut(raw, 2));
  set(natsOptions_SetFailRequestsOnDisconnect(raw, true));
  set(natsOptions_SetErrorHandler(raw, &ignore_error, nullptr));
  set(natsOptions_SetClosedCB(raw, &ignore_connection, nullptr));
  if (secure) set(natsOptions_SetSecure(raw, true));
  if (patience == Patience::ForEver)
    set(natsOptions_SetRetryOnFailedConnect(raw, true, &ignore_connection, nullptr));
  if (status == NATS_OK) status = set_access(raw, access, wrong);
  if (!wrong.message.empty()) return tl::unexpected(wrong);
  if (status != NATS_OK) return failed(status, 0, "cannot use these options of the connection");
  natsConnection* made = nullptr;
  status = natsConnection_Connect(&made, raw);
  Connection connection(made);
  if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED)
    return failed(status, 0, "cannot connect to " + access.servers.front());
  jsCtx* context = nullptr;
  jsOptions js;
  jsOptions_Init(&js);
  js.Wait = kCallMs;
  js.PublishAsync.MaxPending = 4000;
  js.PublishAsync.StallWait = kCallMs;
  auto refused = std::make_unique<Refused>();
  js.PublishAsync.ErrHandler = &on_refused;
  js.PublishAsync.ErrHandlerClosure = refused.get();
  status = natsConnection_JetStream(&context, made, &js);
  if (status != NATS_OK) return failed(status, 0, "cannot use JetStream");
  return std::unique_ptr<Bus>(
      std::make_unique<NatsBus>(std::move(connection), Context(context), std::move(refused)));
}

}  // namespace ttyward::fleet
