"""The commands of the fresh set: name, folder, command. Lines before "#: " only prepare; folders begin empty."""
GIT = ("git init -q -b main . && git config user.email dev@example.org && git config user.name 'Dev Eloper' && ")
COMMANDS = [
    ("fortran_errors", "f90", r"""cat > heat.f90 <<'X'
program heat
  implicit none
  integer :: i, n
  real, dimension(10) :: u
  n = 10
  do i = 1, n
    u(i) = sin(real(i)) * alpha
  end do
  call step(u, n, 0.1)
  print *, 'sum is ', sum(u
  n = "ten"
contains
  subroutine step(v, m)
    real, intent(inout) :: v(:)
    integer, intent(in) :: m
    v(1:m) = v(1:m) + 1
  end subroutine
end program
X
#: gfortran -Wall -c heat.f90"""),
    ("gcc_missing_header", "cinc", r"""mkdir -p src; printf '#include <stdio.h>\n#include "ring_buffer.h"\nint main(void) { return ring_size(); }\n' > src/main.c; printf 'int helper(void) { return 1; }\n' > src/helper.c
printf 'CFLAGS=-Wall -Wextra -O2 -g\nOBJ=src/main.o src/helper.o\napp: $(OBJ)\n\t$(CC) -o $@ $^\n%%.o: %%.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n' > Makefile
#: make"""),
    ("gcc_analyzer", "can", r"""cat > a.c <<'X'
#include <stdlib.h>
#include <stdio.h>
char *read_all(const char *path) {
  FILE *f = fopen(path, "r");
  char *buf = malloc(100);
  if (fread(buf, 1, 100, f) < 10)
    return NULL;
  fclose(f);
  free(buf);
  return buf;
}
int main(int argc, char **argv) { return argc > 1 ? read_all(argv[1])[0] : 0; }
X
#: gcc -fanalyzer -c a.c"""),
    ("ld_undefined", "clink", r"""printf 'int alpha(int); int beta(int); extern int gamma_count;\nint main(void) { return alpha(1) + beta(2) + gamma_count; }\n' > m.c; printf 'int beta(int); int delta(void);\nint twice(int x) { return beta(x) + delta(); }\n' > t.c; printf 'int twice(int x) { return x; }\n' > u.c
#: gcc -g m.c t.c u.c -o app"""),
    ("clang_cxx", "cxx", r"""cat > v.cc <<'X'
#include <string>
#include <vector>
#include <memory>
struct Shape { virtual double area() const = 0; };
struct Circle : Shape { double r; double area() { return r * r * 3.14; } };
int main() {
  std::unique_ptr<Shape> s = std::make_unique<Circle>();
  std::vector<std::string> names = {"a", 7};
  const int limit = 3;
  limit = 4;
  for (auto n : names) n.push_front('x');
  return names.size() == -1;
}
X
#: clang++-19 -std=c++20 -Wall -Wextra -c v.cc"""),
    ("rust_many", "rs", r"""cat > main.rs <<'X'
use std::collections::HashMap;
use std::fs;
#[derive(Debug)]
struct User { name: String, age: u8 }
fn oldest(users: &Vec<User>) -> Option<&User> { users.iter().max_by_key(|u| u.age) }
fn total(prices: HashMap<String, f64>) -> i64 { prices.values().sum() }
fn main() {
    let mut users = vec![User { name: "a".to_string(), age: 300 }];
    let first = &users[0];
    users.push(User { name: "b", age: 2 });
    println!("{:?} {}", first, total(HashMap::new()));
    let unused = 5;
    match users.len() { 0 => println!("none"), 1 => println!("one") }
}
X
#: rustc main.rs"""),
    ("go_vet_test", "gomod", r"""cat > go.mod <<'X'
module example.org/cart
go 1.19
X
cat > cart.go <<'X'
package cart
import "fmt"
type Cart struct{ items map[string]int }
func New() *Cart { return &Cart{items: map[string]int{}} }
func (c *Cart) Add(n string, q int) error { if q <= 0 { return fmt.Errorf("bad quantity %d for %s", q, n) }; c.items[n] += q; return nil }
func (c *Cart) Count() int { t := 0; for _, q := range c.items { t += q }; return t }
X
cat > cart_test.go <<'X'
package cart
import ("testing"; "fmt")
func TestAdd(t *testing.T) { c := New(); if err := c.Add("tea", 2); err != nil { t.Fatal(err) }; if c.Count() != 3 { t.Errorf("Count() = %d, want 3", c.Count()) } }
func TestBad(t *testing.T) { for i := 0; i < 12; i++ { t.Run(fmt.Sprintf("q%d", -i), func(t *testing.T) { if New().Add("x", -i) == nil { t.Error("no error") } }) } }
func TestMany(t *testing.T) { for i := 1; i < 15; i++ { t.Run(fmt.Sprintf("n%d", i), func(t *testing.T) { t.Log("adding", i); if i == 9 { t.Fatalf("lost item %d", i) } }) } }
func TestSlow(t *testing.T) { t.Skip("needs a database") }
X
#: go test -v ./..."""),
    ("java_errors", "jv", r"""mkdir -p src/shop; cat > src/shop/Order.java <<'X'
package shop;
import java.util.Lst;
public class Order {
  private final int id;
  public Order(String id) { this.id = id; }
  public List<String> lines() { return new ArrayList<String>(); }
  @Override public String toSTring() { return "Order " + id; }
  public static void main(String[] args) { Order o = new Order(); o.cancel(); int x = "a" * 2; }
}
X
cat > src/shop/Store.java <<'X'
package shop;
public class Store implements Runnable { Order o = new Order("1"); void save() throws java.io.IOException { } void all() { save(); } }
X
#: javac -Xlint:all -d out src/shop/Order.java src/shop/Store.java"""),
    ("pytest_params", "pyt", r"""mkdir -p app tests; touch app/__init__.py; cat > app/money.py <<'X'
from decimal import Decimal
def parse(text):
    text = text.strip().replace(",", "")
    if not text: raise ValueError("empty amount")
    return Decimal(text)
def split(total, parts):
    share = total / parts
    return [share] * parts
X
cat > tests/test_money.py <<'X'
import pytest
from decimal import Decimal
from app.money import parse, split
@pytest.mark.parametrize("text,want", [("1", 1), ("1,000", 1000), (" 7 ", 7), ("2.50", Decimal("2.50")), ("1.000,50", Decimal("1000.50")), ("-3", -3)])
def test_parse(text, want):
    assert parse(text) == want
def test_empty():
    with pytest.raises(ValueError, match="empty amount"):
        parse("  ")
@pytest.mark.parametrize("n", range(1, 25))
def test_split_counts(n):
    assert len(split(Decimal(100), n)) == n
def test_split_is_exact():
    parts = split(Decimal("100"), 3)
    assert sum(parts) == Decimal("100"), "money was lost"
@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "ledger.csv"
    return path.open()
def test_ledger(ledger):
    assert ledger.read()
X
#: /usr/bin/python3 -m pytest -p no:cacheprovider -rA -q tests"""),
    ("unittest_verbose", "pyu", r"""cat > test_queue.py <<'X'
import unittest, collections
class QueueTest(unittest.TestCase):
    def setUp(self): self.q = collections.deque()
    def test_order(self):
        self.q.extend([1, 2, 3]); self.assertEqual(list(self.q), [1, 2, 3])
    def test_pop_empty(self):
        self.q.popleft()
    @unittest.skip("slow disk")
    def test_disk(self): pass
    def test_sub(self):
        for i in range(4):
            with self.subTest(i=i): self.assertNotEqual(i * i, 4)
    def test_dict(self):
        self.assertDictEqual({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3], "c": 0})
for k in range(18):
    setattr(QueueTest, f"test_append_{k:02}", lambda self, k=k: self.q.append(k))
X
#: python3 -m unittest -v test_queue"""),
    ("node_test_tap", "ntap", r"""cat > a.test.mjs <<'X'
import test from 'node:test'; import assert from 'node:assert';
for (let i = 0; i < 14; i++) test(`slug ${i}`, () => assert.ok(i >= 0));
test('slug keeps accents', () => assert.strictEqual('creme-brulee', 'crème-brûlée'));
test('slug times out', { timeout: 30 }, async () => new Promise((r) => setTimeout(r, 500)));
test('slug of emoji', { todo: 'decide' }, () => { });
X
#: node --test --test-reporter=tap a.test.mjs"""),
    ("ctest_mixed", "ct", r"""cat > CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.20)
project(ct NONE)
enable_testing()
foreach(i RANGE 1 24)
  add_test(NAME unit.parse_${i} COMMAND true)
endforeach()
add_test(NAME net.connect COMMAND sh -c "echo connecting; echo 'refused by 10.0.0.7:443' >&2; exit 3")
add_test(NAME net.slow COMMAND sleep 5)
set_tests_properties(net.slow PROPERTIES TIMEOUT 1)
add_test(NAME disk.missing COMMAND no-such-program --check)
add_test(NAME disk.crash COMMAND sh -c "kill -SEGV $$")
X
cmake -S . -B b
#: ctest --test-dir b --output-on-failure"""),
    ("mvn_offline", "mvn", r"""mkdir -p src/main/java; cat > pom.xml <<'X'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>billing</artifactId><version>2.1.0</version>
<dependencies><dependency><groupId>com.fasterxml.jackson.core</groupId><artifactId>jackson-databind</artifactId><version>2.17.1</version></dependency></dependencies></project>
X
#: mvn -o -B compile"""),
    ("pip_editable", "pipe", r"""mkdir -p demo; printf '[project]\nname = "demo-tool"\nversion = "0.3.1"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n' > pyproject.toml; printf 'def build_wheel(d, config_settings=None, metadata_directory=None):\n    raise RuntimeError("compiler libfoo-config is missing")\n' > backend.py; python3 -m venv v
#: v/bin/pip install --no-index ."""),
    ("pip_local", "pipl", r"""python3 -m venv v; for n in alpha beta gamma; do mkdir -p $n/$n; printf "from setuptools import setup\nsetup(name='$n-lib', version='1.2.0', packages=['$n'])\n" > $n/setup.py; echo > $n/$n/__init__.py; done
#: v/bin/pip install --no-index --no-build-isolation ./alpha ./beta ./gamma"""),
    ("npm_pack", "npmp", r"""mkdir -p lib; for i in $(seq 1 18); do echo "module.exports = $i" > lib/part$i.js; done; printf '{"name":"toolbox","version":"4.2.0","main":"lib/part1.js","files":["lib"]}\n' > package.json; echo readme > README.md
#: npm pack --dry-run"""),
    ("npm_run_fail", "npmr", r"""printf '{"name":"shop","version":"1.0.0","scripts":{"build":"node build.js","test":"exit 3"}}\n' > package.json; printf 'console.log("bundling 14 modules");\nconsole.warn("WARN: size of vendor.js is 512 kB, limit is 250 kB");\nrequire("./missing-plugin");\n' > build.js
#: npm run build"""),
    ("apt_simulate", "apt", "apt-get install -s cowsay figlet"),
    ("apt_missing", "apt", "apt-get install -y libnosuchthing-dev"),
    ("docker_build_none", "dk", "printf 'FROM debian:12\\nRUN apt-get update\\n' > Dockerfile\n#: docker build -t app ."),
    ("cargo_new_test", "crg", r"""cargo init --lib --name geo . ; cat > src/lib.rs <<'X'
pub fn area(w: u32, h: u32) -> u32 { w * h }
pub fn parse(s: &str) -> Result<(i32, i32), std::num::ParseIntError> { let (a, b) = s.split_once(',').unwrap(); Ok((a.parse()?, b.parse()?)) }
#[cfg(test)]
mod tests {
    use super::*;
    #[test] fn area_small() { assert_eq!(area(2, 3), 6); }
    #[test] fn area_overflow() { assert_eq!(area(70_000, 70_000), 0); }
    #[test] fn parse_ok() { assert_eq!(parse("1,2").unwrap(), (1, 2)); }
    #[test] fn parse_bad() { parse("1,x").unwrap(); }
    #[test] fn parse_none() { assert!(parse("12").is_err()); }
    #[test] #[should_panic] fn panics() { area(1, 1); }
}
X
#: cargo test --offline"""),
    ("nginx_log", "log1", r"""python3 - <<'X'
import random; random.seed(4)
with open('access.log', 'w') as f:
    for i in range(160):
        code = 502 if i in (61, 62, 63) else 404 if i == 120 else 200
        path = '/wp-login.php' if i == 120 else random.choice(['/', '/cart', '/api/items', '/static/app.js', '/img/logo.svg'])
        ms = 30.0 if code == 502 else random.randint(1, 60) / 1000
        f.write(f'10.2.{i % 5}.{random.randint(1, 250)} - - [16/Nov/2026:09:{i // 4 % 60:02}:{i % 60:02} +0000] "GET {path} HTTP/1.1" {code} {random.randint(200, 9000)} "-" "Mozilla/5.0" {ms:.3f}\n')
X
#: cat access.log"""),
    ("app_log", "log2", r"""python3 - <<'X'
import random; random.seed(9)
lines = []
for i in range(70):
    t = f'2026-11-16T08:{i // 2:02}:{i % 2 * 30:02}.{random.randint(100, 999)}Z'
    lines.append(f'{t} INFO  [worker-{i % 4}] orders.consumer - processed order {10000 + i} in {random.randint(3, 40)} ms')
    if i % 12 == 5: lines.append(f'{t} DEBUG [pool] db.pool - connections active={i % 7} idle={10 - i % 7}')
    if i == 33: lines += [f'{t} WARN  [worker-1] db.pool - connection wait 5021 ms, pool exhausted (max=10)', f'{t} ERROR [worker-1] orders.consumer - order 10033 rejected: stock of SKU-8841 is negative', 'java.lang.IllegalStateException: stock of SKU-8841 is -2', '\tat org.example.stock.Ledger.take(Ledger.java:88)', '\tat org.example.orders.Consumer.handle(Consumer.java:41)', '\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)', '\tat java.base/java.lang.Thread.run(Thread.java:840)']
    if i == 50: lines.append(f'{t} INFO  [main] config - reloaded settings from /etc/orders/app.yml (generation 7)')
open('app.log', 'w').write('\n'.join(lines) + '\n')
X
#: tail -n 100 app.log"""),
    ("dmesg_like", "log3", r"""python3 - <<'X'
lines = []
for i in range(60):
    lines.append(f'[{i * 0.731:12.6f}] usb 1-{i % 4}: new high-speed USB device number {i} using xhci_hcd')
    if i % 9 == 2: lines.append(f'[{i * 0.731 + 0.01:12.6f}] EXT4-fs (sda{i % 3}): mounted filesystem with ordered data mode. Quota mode: none.')
    if i == 41: lines += ['[   30.112233] ata3.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x0', '[   30.112240] ata3.00: failed command: READ DMA EXT', '[   30.112301] blk_update_request: I/O error, dev sdb, sector 204812', '[   30.118000] Out of memory: Killed process 2214 (indexer) total-vm:8123456kB']
open('k.log', 'w').write('\n'.join(lines) + '\n')
X
#: cat k.log"""),
    ("ls_long_mixed", "ls1", r"""mkdir -p bin conf data; for i in 1 2 3 4 5 6 7 8 9; do head -c $((i * 777)) /dev/zero > data/part-$i.bin; done; head -c 5000000 /dev/zero > data/huge.bin; ln -s part-1.bin data/latest; touch data/empty.lock; chmod 600 data/part-3.bin; printf x > data/run.sh; chmod 755 data/run.sh; touch -d '2026-11-16 10:00' data/*
#: ls -la data"""),
    ("find_size", "find1", r"""for d in a b c; do mkdir -p proj/$d/src proj/$d/test; for i in 1 2 3 4 5; do echo $i > proj/$d/src/m$i.py; echo $i > proj/$d/test/test_m$i.py; done; done; echo k > proj/b/secret.key; mkdir -p proj/c/__pycache__; echo c > proj/c/__pycache__/m1.pyc
#: find proj -type f"""),
    ("du_sizes", "du1", r"""for i in $(seq 1 16); do mkdir -p cache/obj$i; head -c $((i * 3000)) /dev/zero > cache/obj$i/x; done; mkdir -p cache/images; head -c 9000000 /dev/zero > cache/images/layer.tar
#: du -k cache | sort -n"""),
    ("ps_table", "ps1", "for i in 1 2 3 4 5 6 7; do sleep 3 & done; python3 -c 'import time; time.sleep(3)' &\nsleep 0.1\n#: for i in 1 2 3 4 5 6 7; do sleep 2 & done; ps -o pid,ppid,stat,ni,rss,tty,cmd --ppid $$"),
    ("df_table", "df1", r"""cat > df.txt <<'X'
Filesystem      Size  Used Avail Use% Mounted on
udev            7.8G     0  7.8G   0% /dev
tmpfs           1.6G  2.1M  1.6G   1% /run
/dev/nvme0n1p2  234G  198G   25G  89% /
tmpfs           7.8G  1.2M  7.8G   1% /dev/shm
tmpfs           5.0M  4.0K  5.0M   1% /run/lock
/dev/nvme0n1p1  511M  6.1M  505M   2% /boot/efi
/dev/sdb1       916G  916G   20K 100% /srv/backup
tmpfs           1.6G  100K  1.6G   1% /run/user/1000
X
#: cat df.txt"""),
    ("sqlite_table", "sq", r"""sqlite3 hr.db "create table staff(id integer, name text, team text, city text, active text); with recursive n(i) as (select 1 union all select i+1 from n where i<24) insert into staff select i, 'person'||i, case when i%5=0 then 'ops' else 'dev' end, 'Berlin', case when i=13 then 'no' else 'yes' end from n;"
#: sqlite3 -header -column hr.db 'select * from staff'"""),
    ("csv_head", "csv1", r"""python3 -c "
print('date,store,sku,units,price,currency')
for i in range(40): print(f'2026-10-{i % 28 + 1:02},store-{i % 3},SKU{1000 + i},{i * 3 % 11},{9.99 if i != 27 else -9.99},EUR')" > sales.csv
#: cat sales.csv"""),
    ("git_diff_code", "g1", GIT + r"""python3 - <<'X'
src = ['import os', '', 'LIMIT = 10', '', 'def load(path):', '    with open(path) as f:', '        return f.read()', ''] + [f'def step_{i}(x):\n    # step {i} of the pipeline\n    return x + {i}\n' for i in range(12)] + ['def main():', '    data = load("in.txt")', '    for i in range(LIMIT):', '        data = step_1(i)', '    print(data)', '']
open('pipeline.py', 'w').write('\n'.join(src))
open('README.md', 'w').write('# Pipeline\n\nRuns steps.\n\n## Use\n\npython3 pipeline.py\n')
X
git add . && git commit -qm start && sed -i 's/LIMIT = 10/LIMIT = 25/; s/return x + 7$/return x * 7/; s/    with open(path) as f:/    with open(path, encoding="utf-8") as f:/; /print(data)/d' pipeline.py && sed -i 's/Runs steps./Runs all steps in order./' README.md && echo 'data/' > .gitignore && git add -N .gitignore
#: git diff"""),
    ("git_log_plain", "g2", GIT + r"""for k in $(seq 1 9); do echo $k >> f; git add . ; GIT_AUTHOR_DATE="2026-10-0$k 12:00:00 +0000" GIT_COMMITTER_DATE="2026-10-0$k 12:00:00 +0000" git -c user.name="$([ $k = 4 ] && echo 'Rita Book' || echo 'Dev Eloper')" commit -qm "Part $k: $([ $k = 6 ] && echo 'Revert the cache of sessions' || echo 'extend the importer')

This is why part $k is needed. It changes nothing else."; done; git tag v1.0 HEAD~3
#: git log"""),
    ("git_status_long", "g3", GIT + r"""for i in $(seq 1 14); do echo $i > f$i.txt; done; git add . && git commit -qm a; for i in 1 2 3 4 5 6 7 8; do echo x >> f$i.txt; done; git add f1.txt f2.txt; git rm -q --cached f9.txt; git mv f10.txt renamed.txt; for i in $(seq 1 9); do echo > tmp$i.log; done; echo > TODO
#: git status"""),
    ("git_pull_conflict", "g4", GIT + r"""seq 1 20 > a; git add . && git commit -qm a; git clone -q . ../g4b; sed -i 's/^7$/seven/' a && git commit -qam seven; cd ../g4b && git config user.email d@example.org && git config user.name D && sed -i 's/^7$/VII/' a && git commit -qam VII && git config pull.rebase false
#: cd ../g4b && git pull"""),
    ("diff_plain", "d1", r"""for i in $(seq 1 80); do echo "key_$i = value $i"; done > old.ini; sed 's/value 12$/value twelve/; s/value 55$/value 5500/; /key_70/d' old.ini > new.ini; echo 'key_81 = added' >> new.ini
#: diff old.ini new.ini"""),
    ("diff_side", "d2", r"""mkdir -p one/sub two/sub; for i in 1 2 3 4 5 6; do echo $i > one/f$i; echo $i > two/f$i; done; echo x > one/only_here; echo changed > two/f3; echo y > two/sub/new.cfg; echo z > one/sub/z; cp one/sub/z two/sub/z
#: diff -ru one two"""),
    ("systemctl_status", "sy", r"""cat > s.txt <<'X'
● billing.service - Billing worker
     Loaded: loaded (/etc/systemd/system/billing.service; enabled; preset: enabled)
     Active: failed (Result: exit-code) since Mon 2026-11-16 09:14:02 UTC; 3min 11s ago
   Duration: 1.204s
    Process: 41234 ExecStart=/opt/billing/bin/worker --config /etc/billing.toml (code=exited, status=78)
   Main PID: 41234 (code=exited, status=78)
        CPU: 211ms

Nov 16 09:14:02 devbox systemd[1]: billing.service: Scheduled restart job, restart counter is at 5.
Nov 16 09:14:02 devbox systemd[1]: Stopped billing.service - Billing worker.
Nov 16 09:14:02 devbox worker[41234]: reading /etc/billing.toml
Nov 16 09:14:02 devbox worker[41234]: config: key "database.url" is required
Nov 16 09:14:02 devbox systemd[1]: billing.service: Main process exited, code=exited, status=78/CONFIG
Nov 16 09:14:02 devbox systemd[1]: billing.service: Start request repeated too quickly.
Nov 16 09:14:02 devbox systemd[1]: billing.service: Failed with result 'exit-code'.
Nov 16 09:14:02 devbox systemd[1]: Failed to start billing.service - Billing worker.
X
#: cat s.txt; exit 3"""),
    ("tar_verbose", "tv", r"""for i in $(seq 1 40); do mkdir -p site/post$i; echo $i > site/post$i/index.html; done; echo m > site/map.xml
#: tar cvf site.tar site"""),
    ("readelf_needed", "re", "readelf -d /bin/ls"),
    ("ldd_missing", "lc", "ldd /usr/bin/git /usr/bin/curl /usr/bin/no-such"),
    ("python_syntax", "ps", r"""mkdir -p pkg; printf 'def ok():\n    return 1\n' > pkg/a.py; printf 'def broken(:\n    return 1\n' > pkg/b.py; printf 'class C:\n  def f(self):\n\treturn 1\n    def g(self): pass\n' > pkg/c.py
#: python3 -m compileall -f pkg"""),
    ("cmake_errors", "cme", r"""cat > CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.20)
project(engine VERSION 1.4 LANGUAGES C)
option(WITH_AUDIO "sound" ON)
find_package(Threads REQUIRED)
find_library(ALSA_LIB asound_nonexistent)
if(NOT ALSA_LIB)
  message(WARNING "ALSA was not found, sound is off")
endif()
add_executable(engine main.c missing.c)
target_link_libraries(engine PRIVATE NoTarget::NoLib Threads::Threads)
X
echo 'int main(void){return 0;}' > main.c
#: cmake -S . -B build"""),
    ("make_parallel_err", "mp", r"""for i in $(seq 1 12); do echo "int f$i(void) { return $i; }" > f$i.c; done; echo 'int f7(void) { return undeclared_thing; }' > f7.c; printf 'OBJ=%s\nlib.a: $(OBJ)\n\tar rcs $@ $^\n%%.o: %%.c\n\tgcc -O2 -Wall -c $< -o $@\n' "$(seq -s ' ' -f 'f%g.o' 1 12)" > Makefile
#: make -j2 -k"""),
    ("rsync_dry", "rsd", "mkdir -p a/img b; for i in $(seq 1 30); do echo $i > a/img/p$i.png; done; echo i > a/index.html; mkdir b/old; echo o > b/old/gone.txt\n#: rsync -avn --delete a/ b/"),
    ("kubectl_yaml", "kc", "printf 'apiVersion: v1\\nkind: Pod\\nmetadata:\\n  name: web\\nspec:\\n  containers:\\n  - name: c\\n    image: nginx\\n    ports: 80\\n' > p.yaml\n#: kubectl apply -f p.yaml"),
    ("jq_objects", "jq", r"""python3 -c "
import json; print(json.dumps({'cluster': 'eu-1', 'nodes': [{'name': f'node-{i}', 'role': 'worker' if i else 'control', 'cpu': 8, 'memory_gb': 32, 'ready': i != 5, 'labels': {'zone': 'eu-1' + 'abc'[i % 3], 'arch': 'amd64'}} for i in range(9)]}))" > c.json
#: jq . c.json"""),
    ("gdb_crash", "gdbc", r"""cat > c.c <<'X'
#include <stdlib.h>
struct node { struct node *next; int v; };
static int sum(struct node *n) { return n->v + sum(n->next); }
static int run(int k) { struct node *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b); a->next = b; a->v = k; return sum(a); }
int main(void) { return run(3); }
X
gcc -g c.c -o c
#: gdb -batch -ex run -ex bt -ex 'info registers' ./c"""),
    ("valgrind_clean", "vgc", "printf '#include <stdlib.h>\\nint main(void) { char *p = malloc(10); free(p); return p[0] == 1; }\\n' > v.c; gcc -g v.c -o v\n#: valgrind ./v"),
    ("curl_fail", "cf", "curl -v --max-time 3 http://127.0.0.1:9/health"),
]
