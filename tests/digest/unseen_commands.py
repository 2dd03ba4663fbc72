"""The commands of the unseen set: name, folder, command. Lines before "#: " only prepare; folders begin empty."""
GIT = ("git init -q -b main . && git config user.email dev@example.org && git config user.name Dev && "
       "for i in $(seq 1 30); do echo \"line $i\" >> a.txt; done && git add . && git commit -qm 'Add a' && ")
COMMANDS = [
    ("perl_syntax", "perl", r"""cat > t.pl <<'X'
use strict; use warnings;
my $total = 0;
for my $i (1..3) { $totl += $i }
print "sum: $total\n"
print "done\n";
X
#: perl -c t.pl"""),
    ("bash_trace", "bash", r"""cat > deploy.sh <<'X'
set -eu
version=1.4.2
for host in web1 web2 web3; do
  mkdir -p out/$host
  echo "app $version" > out/$host/release
done
cp missing.conf out/web1/app.conf
echo deployed
X
#: bash -x deploy.sh"""),
    ("psql_refused", "psql", "psql -h 127.0.0.1 -p 9 -U app orders -c 'select 1'"),
    ("xmllint", "xml", r"""printf '<orders>\n  <order id="1"><item>a</item></order>\n  <order id="2"><item>b</itm></order>\n  <order id=3/>\n</orders>\n' > orders.xml
#: xmllint --noout orders.xml"""),
    ("sqlite_rows", "sqlite", r"""sqlite3 shop.db "create table orders(id integer, customer text, status text, amount real); with recursive n(i) as (select 1 union all select i+1 from n where i<120) insert into orders select i, 'customer'||(i%17), case when i=77 then 'chargeback' when i%9=0 then 'refunded' else 'paid' end, i*3.5 from n;"
#: sqlite3 -header -column shop.db 'select * from orders'"""),
    ("patch_reject", "patch", r"""for i in $(seq 1 60); do echo "setting_$i = $i"; done > app.conf; cp app.conf new.conf; sed -i 's/setting_5 = 5/setting_5 = 50/; s/setting_40 = 40/setting_40 = 400/' new.conf; diff -u app.conf new.conf > change.patch; sed -i 's/setting_40 = 40/setting_40 = 41/; s/setting_39/other_39/; s/setting_41/other_41/' app.conf
#: patch -p0 app.conf < change.patch"""),
    ("tar_corrupt", "tar", "mkdir -p d; for i in $(seq 1 40); do head -c 3000 /dev/urandom > d/f$i; done; tar czf x.tgz d; head -c 60000 x.tgz > cut.tgz\n#: tar xvzf cut.tgz"),
    ("ssh_refused", "ssh", "ssh -v -o BatchMode=yes -p 9 deploy@127.0.0.1 uptime"),
    ("terraform_validate", "tf", r"""cat > main.tf <<'X'
resource "local_file" "a" {
  filename = var.path
  content  = local.greeting
  colour   = "red"
}
output "name" { value = local_file.b.filename }
X
#: terraform validate"""),
    ("git_conflict", "git1", GIT + r"""git checkout -qb feature && sed -i 's/line 12/line twelve/' a.txt && git commit -qam 'Spell twelve' && git checkout -q main && sed -i 's/line 12/line 12!/' a.txt && git commit -qam 'Shout' && echo new > b.txt && git add b.txt && git commit -qm b
#: git merge feature"""),
    ("git_log_stat", "git2", GIT + r"""for k in $(seq 1 15); do for f in $(seq 1 6); do echo "$k $f" >> f$f.txt; done; git add . && git commit -qm "Change $k: tune parameter $((k*7))"; done
#: git log --stat"""),
    ("git_stash_dirty", "git3", GIT + r"""git checkout -qb other && echo x >> a.txt && git commit -qam x && git checkout -q main && echo y >> a.txt
#: git checkout other"""),
    ("rsync_missing", "rsync", "mkdir -p src/deep dst; for i in $(seq 1 25); do echo $i > src/deep/file$i; done\n#: rsync -av src/ no-such-dir/ dst/"),
    ("strace_counts", "strace", "strace -c ls /usr/lib > /dev/null"),
    ("unzip_list", "zip", "mkdir -p site/img; for i in $(seq 1 45); do echo $i > site/img/photo_$i.jpg; done; echo i > site/index.html; echo c > site/style.css; zip -qr site.zip site\n#: unzip -l site.zip"),
    ("java_causes", "java", r"""cat > Shop.java <<'X'
import java.util.*;
public class Shop {
  static int price(Map<String, String> row) { return Integer.parseInt(row.get("price")); }
  static void load(List<Map<String, String>> rows) {
    for (Map<String, String> row : rows) {
      try { price(row); } catch (NumberFormatException e) { throw new IllegalStateException("row " + row.get("id") + " is damaged", e); }
    }
  }
  public static void main(String[] a) {
    List<Map<String, String>> rows = new ArrayList<>();
    for (int i = 0; i < 5; i++) rows.add(Map.of("id", "" + i, "price", i == 3 ? "12,50" : "10"));
    try { load(rows); } catch (IllegalStateException e) { throw new RuntimeException("import failed", e); }
  }
}
X
#: java Shop.java"""),
    ("python_chain", "py1", r"""cat > job.py <<'X'
import json

def read_config(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError("config of service billing is not JSON") from error

def start(text):
    for step in ("connect", "migrate", "configure"):
        print("step", step)
    config = read_config(text)
    print(config)

start('{"port": 8080,, "host": "db1"}')
X
#: python3 job.py"""),
    ("pytest_passing", "py2", r"""mkdir -p tests; for m in a b c d; do { echo 'import pytest, warnings'; for i in $(seq 1 12); do echo "def test_${m}_$i(): assert $i"; done; echo "def test_${m}_warns():
    warnings.warn('use new_$m instead', DeprecationWarning)"; echo "@pytest.mark.skip(reason='needs a database')
def test_${m}_db(): pass"; } > tests/test_$m.py; done
#: /usr/bin/python3 -m pytest -p no:cacheprovider tests"""),
    ("pytest_fixture", "py3", r"""cat > test_api.py <<'X'
import pytest

@pytest.fixture
def client():
    raise ConnectionError("cannot reach 127.0.0.1:5432")

def test_list(client): assert client.get("/")
def test_create(client): assert client.post("/")
@pytest.mark.parametrize("n", range(20))
def test_square(n): assert n * n != 49
X
#: /usr/bin/python3 -m pytest -q -p no:cacheprovider"""),
    ("node_rejection", "js", r"""cat > worker.js <<'X'
async function fetchUser(id) { if (id === 3) throw new TypeError(`user ${id} has no email`); return { id }; }
async function main() { for (let i = 1; i < 5; i++) { const u = await fetchUser(i); console.log('synced user', u.id); } }
main();
X
#: node worker.js"""),
    ("rust_borrow", "rs1", r"""cat > main.rs <<'X'
use std::collections::HashMap;
fn longest(a: &str, b: &str) -> &str { if a.len() > b.len() { a } else { b } }
fn main() {
    let names = vec![String::from("ada"), String::from("bob")];
    let moved = names;
    let mut count: HashMap<&str, i32> = HashMap::new();
    for n in &names { *count.entry(n).or_insert(0) += 1; }
    let unused = 3;
    println!("{} {:?}", longest("a", "bb"), moved);
}
X
#: rustc main.rs"""),
    ("ubsan_run", "c1", r"""cat > u.c <<'X'
#include <stdio.h>
#include <limits.h>
int shift(int n) { return 1 << n; }
int main(int c, char **v) { int a[4] = {1,2,3,4}; int s = INT_MAX; for (int i = 0; i <= 3 + c; i++) s += a[i % 5]; printf("sum %d %d\n", s, shift(31 + c)); return 0; }
X
gcc -g -fsanitize=undefined u.c -o u
#: ./u"""),
    ("make_parallel", "c2", r"""for i in $(seq 1 30); do echo "int f$i(int x) { return x * $i; }" > f$i.c; done; echo 'int f17(int x) { int unused; return x +; }' > f17.c; printf 'OBJS := $(patsubst %%.c,%%.o,$(wildcard f*.c))\nlibf.a: $(OBJS)\n\tar rcs $@ $^\n%%.o: %%.c\n\tgcc -Wall -O2 -c $< -o $@\n' > Makefile
#: make -j4"""),
    ("cppcheck", "c3", r"""cat > q.c <<'X'
#include <stdlib.h>
#include <string.h>
char *copy(const char *s) { char *p = malloc(4); strcpy(p, s); if (!s) return 0; return p; }
int main(void) { int x; char *p = copy("hello"); int a[3]; a[3] = x; return p == 0; }
X
#: cppcheck --enable=all q.c"""),
    ("go_panic", "go1", r"""cat > go.mod <<'X'
module example.org/queue
go 1.19
X
cat > queue_test.go <<'X'
package queue
import "testing"
type Q struct{ items []int }
func (q *Q) Pop() int { v := q.items[0]; q.items = q.items[1:]; return v }
func TestPush(t *testing.T) { q := Q{}; q.items = append(q.items, 4); if q.Pop() != 4 { t.Fatal("wrong") } }
func TestEmpty(t *testing.T) { q := Q{}; q.Pop() }
X
#: go test ./..."""),
    ("curl_json", "json", r"""python3 - <<'X' > items.json
import json
print(json.dumps({"page": 1, "total": 64, "items": [{"id": i, "sku": f"SKU-{1000+i}", "stock": 0 if i == 23 else 12, "warehouse": "BER", "status": "discontinued" if i == 40 else "active"} for i in range(64)]}, indent=2))
X
#: cat items.json | jq ."""),
    ("wget_ok", "www", "head -c 3000000 /dev/zero > big.bin; (python3 -m http.server 8791 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 1; echo)\n#: wget -O copy.bin http://127.0.0.1:8791/big.bin"),
    ("systemctl_none", "sys", "systemctl status nginx"),
    ("mixed_log", "log", r"""cat > gen.py <<'X'
import random
random.seed(4)
for i in range(900):
    t = f"2026-03-01T10:{i//60:02d}:{i%60:02d}.{random.randrange(1000):03d}Z"
    if i == 511: print(t, 'ERROR [worker-3] payment 8812 failed: card_declined (attempt 3/3)'); print('  order=5512 customer=77 amount=129.90 EUR')
    elif i == 700: print(t, 'WARN  [gc] heap at 91 %, pause 812 ms')
    elif i % 7 == 0: print(t, f'INFO  [http] GET /health 200 {random.randrange(9)}ms')
    else: print(t, f'INFO  [worker-{i%5}] processed job {random.randrange(10**6)} in {random.randrange(900)} ms')
X
#: python3 gen.py"""),
]
