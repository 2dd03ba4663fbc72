"""Small projects with known faults, for the recorded commands to work on."""
import os
import subprocess
import textwrap


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(textwrap.dedent(text).lstrip("\n"))


def sh(command, folder):
    subprocess.run(["bash", "-c", command], cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def c_project(w):
    d = w + "/c"
    for i in range(24):
        put(f"{d}/part{i:02}.c", f"int part{i}(int x) {{ return x + {i}; }}\n")
    put(d + "/broken.c", """
        #include <stdio.h>
        struct point { int x, y; };
        int area(struct point *p) {
          int unused = 3;
          return p.x * p->z;
        }
        int main(void) {
          char *name = 42;
          printf("%s %d\\n", name);
          undeclared_call(1);
          for (int i = 0; i < 3; i++) { if (i = 2) break; }
          return area(0)
        }
        """)
    put(d + "/warn.c", "\n".join(f"static int f{i}(int a{i}) {{ int u{i}; return 0; }}" for i in range(40)) + "\nint main(void) { return 0; }\n")
    put(d + "/main.c", "".join(f"int part{i}(int);\n" for i in range(24)) + "int missing_one(int);\nint missing_two(void);\nint main(void) { return part1(2) + missing_one(3) + missing_two(); }\n")
    put(d + "/good.c", "".join(f"int part{i}(int);\n" for i in range(24)) + "int main(void) { return part1(2) - 3; }\n")
    put(d + "/Makefile", """
        OBJS := $(patsubst %.c,%.o,$(wildcard part*.c))
        app: $(OBJS) good.o
        \tgcc -o $@ $^
        bad: $(OBJS) main.o
        \tgcc -o $@ $^
        %.o: %.c
        \tgcc -O2 -g -Wall -Wextra -I. -Iinclude -DVERSION=\\"1.0\\" -c -o $@ $<
        broken: broken.o
        clean:
        \trm -f *.o app
        """)
    put(d + "/templates.cc", """
        #include <algorithm>
        #include <map>
        #include <string>
        #include <vector>
        struct Key { int a; };
        int main() {
          std::map<Key, std::string> m;
          m[Key{1}] = "x";
          std::vector<int> v{3, 1, 2};
          std::sort(v.begin(), v.end(), [](int a, std::string b) { return a < b; });
          std::string s = 5 + v;
        }
        """)
    put(d + "/leak.c", """
        #include <stdlib.h>
        #include <string.h>
        static char *copy(const char *s) { char *p = malloc(strlen(s)); strcpy(p, s); return p; }
        static void work(void) { char *a = copy("hello"); int *q = malloc(40); q[10] = 1; (void)a; }
        int main(void) { for (int i = 0; i < 3; i++) work(); int u; if (u > 3) return 1; return 0; }
        """)
    put(d + "/use_after.cc", """
        #include <vector>
        #include <cstdio>
        static int *make() { std::vector<int> v(10, 7); int *p = new int[4]; delete[] p; return p; }
        int main() { int *p = make(); std::printf("%d\\n", p[1]); int k = 2147483647; k += p[0]; return k; }
        """)


def cmake_project(w):
    d = w + "/cm"
    put(d + "/CMakeLists.txt", """
        cmake_minimum_required(VERSION 3.20)
        project(demo C CXX)
        enable_testing()
        find_package(Threads REQUIRED)
        find_package(GTest REQUIRED)
        """ )
    with open(d + "/CMakeLists.txt", "a") as f:
        for i in range(12):
            f.write(f"add_library(lib{i} lib{i}.cc)\n")
            put(f"{d}/lib{i}.cc", f"int lib{i}(int x) {{ return x * {i}; }}\n")
        f.write("add_executable(unit unit.cc)\ntarget_link_libraries(unit GTest::gtest_main lib1 lib2)\n")
        f.write("add_test(NAME unit COMMAND unit)\n")
        for i in range(30):
            f.write(f"add_test(NAME case_{i:02} COMMAND sh -c \"{'echo compared 3 files; echo mismatch in row 17 >&2; exit 1' if i in (7, 19) else 'exit 0'}\")\n")
        f.write("add_test(NAME slow COMMAND sleep 5)\nset_tests_properties(slow PROPERTIES TIMEOUT 1)\n")
    put(d + "/unit.cc", """
        #include <gtest/gtest.h>
        #include <string>
        #include <vector>
        int lib1(int); int lib2(int);
        TEST(Lib, Doubles) { EXPECT_EQ(lib2(4), 8); }
        TEST(Lib, Identity) { EXPECT_EQ(lib1(4), 4); }
        TEST(Lib, OffByOne) { EXPECT_EQ(lib1(4), 5) << "lib1 must add one"; }
        TEST(Text, Vectors) { std::vector<std::string> a{"x", "y"}, b{"x", "z"}; EXPECT_EQ(a, b); }
        TEST(Text, Skipped) { GTEST_SKIP() << "needs a network"; }
        class Numbers : public testing::TestWithParam<int> {};
        TEST_P(Numbers, AreSmall) { EXPECT_LT(GetParam(), 38); }
        INSTANTIATE_TEST_SUITE_P(All, Numbers, testing::Range(0, 40));
        """)
    put(w + "/cmbad/CMakeLists.txt", """
        cmake_minimum_required(VERSION 3.20)
        project(bad CXX)
        find_package(NoSuchThing 3.2 REQUIRED)
        """)


def python_project(w):
    d = w + "/py"
    put(d + "/shop/__init__.py", "")
    put(d + "/shop/cart.py", """
        class Cart:
            def __init__(self):
                self.items = {}

            def add(self, name, price, count=1):
                if price < 0:
                    raise ValueError(f"price of {name} is negative: {price}")
                self.items[name] = (price, count)

            def total(self):
                return sum(p * c for p, c in self.items.values())

            def discount(self, code):
                return self.total() * RATES[code]
        """)
    put(d + "/tests/test_cart.py", """
        import pytest, warnings
        from shop.cart import Cart

        @pytest.fixture
        def cart():
            c = Cart()
            c.add("tea", 3)
            return c

        def test_total(cart):
            assert cart.total() == 3

        def test_total_two(cart):
            cart.add("cup", 5, 2)
            assert cart.total() == 14

        def test_discount(cart):
            assert cart.discount("SPRING") == 2

        def test_items(cart):
            assert cart.items == {"tea": (3, 1), "cup": (5, 2)}

        @pytest.mark.parametrize("n", range(60))
        def test_many(cart, n):
            cart.add("x", n)
            assert cart.total() == 3 + n

        @pytest.mark.skip(reason="needs the payment service")
        def test_pay():
            pass

        @pytest.mark.xfail
        def test_known():
            assert False

        def test_old():
            warnings.warn("add_item is deprecated, use add", DeprecationWarning)
        """)
    put(d + "/tests/test_broken_import.py", "import shop.missing_module\n")
    put(d + "/unit/test_unit.py", """
        import unittest
        from shop.cart import Cart

        class CartTest(unittest.TestCase):
            def test_total(self):
                self.assertEqual(Cart().total(), 0)
            def test_negative(self):
                with self.assertRaises(ValueError):
                    Cart().add("a", -1)
            def test_wrong(self):
                c = Cart(); c.add("tea", 3)
                self.assertEqual(c.total(), 4, "tax was not added")
            def test_error(self):
                Cart().discount("X")
            @unittest.skip("later")
            def test_later(self):
                pass
        for i in range(40):
            setattr(CartTest, f"test_gen_{i:02}", lambda self: None)
        """)
    put(d + "/trace.py", """
        import json
        def load(path):
            try:
                return json.loads(open(path).read())
            except json.JSONDecodeError as e:
                raise RuntimeError(f"cannot load settings from {path}") from e
        def start():
            return load("settings.json")["port"]
        def deep(n):
            return start() if n == 0 else deep(n - 1)
        print("starting")
        deep(30)
        """)
    put(d + "/settings.json", "{\"port\": 80,}\n")
    put(d + "/recurse.py", "def f(n):\n    return f(n + 1)\nf(0)\n")
    put(d + "/log.py", """
        import random, datetime
        random.seed(4)
        t = datetime.datetime(2026, 3, 1, 9, 0, 0)
        paths = ["/api/users", "/api/orders", "/health", "/static/app.js"]
        for i in range(900):
            t += datetime.timedelta(milliseconds=random.randrange(10, 900))
            s = t.strftime("%Y-%m-%d %H:%M:%S.") + f"{t.microsecond // 1000:03}"
            if i == 411:
                print(f"{s} ERROR [worker-3] db: connection to 10.0.4.17:5432 lost after 30012 ms, transaction 88213 rolled back")
            elif i == 640:
                print(f"{s} WARN  [worker-1] cache: evicted 12044 entries, 93% full")
            elif i % 97 == 0:
                print(f"{s} INFO  [main] gc: heap {random.randrange(100, 400)} MB, pause {random.randrange(3, 40)} ms")
            else:
                p = random.choice(paths)
                print(f"{s} INFO  [worker-{random.randrange(4)}] GET {p} {200 if i != 700 else 503} {random.randrange(1, 90)}ms id={random.randrange(1 << 32):08x}")
        print(f"{s} INFO  [main] stopped after 900 requests")
        """)
    put(d + "/table.py", """
        import random
        random.seed(1)
        print(f"{'NAME':32}{'READY':8}{'STATUS':20}{'RESTARTS':10}AGE")
        for i in range(70):
            n = f"web-{random.randrange(16**8):08x}-{random.randrange(16**5):05x}"
            r, s, k = ("0/1", "CrashLoopBackOff", 17) if i == 31 else ("0/1", "ImagePullBackOff", 0) if i == 52 else ("1/1", "Running", 0)
            print(f"{n:32}{r:8}{s:20}{k:<10}{random.randrange(1, 30)}d")
        """)
    put(d + "/rows.py", """
        import json, random
        random.seed(2)
        rows = [{"id": 1000 + i, "name": f"user{i}", "email": f"user{i}@example.com", "active": i != 37, "plan": "free" if i % 9 else "pro", "address": {"city": "Bonn", "zip": 53000 + i}} for i in range(80)]
        rows[61]["error"] = "mailbox full"
        print(json.dumps({"total": 80, "page": 1, "next": None, "users": rows}, indent=2))
        """)
    put(d + "/progress.py", """
        import sys, time
        for name in ["model.bin", "vocab.txt", "config.json"]:
            for p in range(0, 101, 2):
                sys.stdout.write(f"\\rDownloading {name}: {p:3}% |{'#' * (p // 4):25}| {p * 3.1:.1f}/310.0 MB")
                sys.stdout.flush()
            print()
        print("checksum of vocab.txt does not match: expected 9f1c, got 77ab", file=sys.stderr)
        sys.exit(3)
        """)
    put(d + "/mixed.py", """
        import random, sys
        random.seed(9)
        for i in range(400):
            print(f"[{i + 1}/400] resizing photos/2024/IMG_{4000 + i}.jpg -> thumbs/IMG_{4000 + i}.webp ({random.randrange(10, 90)} KB)")
            if i == 133: print("warning: photos/2024/IMG_4133.jpg: ICC profile is damaged, colours may differ")
            if i == 288: print("photos/2024/IMG_4288.jpg: cannot decode: premature end of data segment")
        print("399 of 400 images done, 1 skipped")
        """)


def node_project(w):
    d = w + "/npm"
    put(d + "/ts/tsconfig.json", '{"compilerOptions": {"strict": true, "target": "es2020", "noEmit": true, "types": []}, "include": ["src"]}\n')
    for i in range(6):
        put(f"{d}/ts/src/m{i}.ts", f"""
            export interface User{i} {{ id: number; name: string }}
            export function get{i}(u: User{i}): string {{ return u.id; }}
            export const v{i}: number = "text";
            export function no{i}(x) {{ return x.y.z; }}
            const u{i}: User{i} = {{ id: 1 }};
            u{i}.nam = "x";
            """)
    put(d + "/eslint.config.js", """
        module.exports = [{ files: ["js/*.js"], rules: { "no-unused-vars": "warn", "no-undef": "error", "eqeqeq": "error", "semi": ["error", "always"], "prefer-const": "error" } }];
        """)
    for i in range(5):
        put(f"{d}/js/a{i}.js", f"""
            let x{i} = 1
            function unused{i}(a, b) {{
              if (a == b) return undefinedThing{i};
              let c = a + x{i}
              return c;
            }}
            """)
    put(d + "/jt/sum.test.js", """
        const sum = (a, b) => a + b;
        describe('sum', () => {
          for (let i = 0; i < 30; i++) test(`adds ${i}`, () => expect(sum(i, 1)).toBe(i + 1));
          test('adds strings', () => { expect(sum('1', 2)).toBe(3); });
          test('matches objects', () => { expect({ a: 1, b: [1, 2, 3], c: 'x' }).toEqual({ a: 1, b: [1, 2, 4], c: 'x' }); });
          test.skip('later', () => {});
        });
        """)
    put(d + "/jt/other.test.js", "for (let i = 0; i < 12; i++) test(`other ${i}`, () => {});\ntest('throws', () => { null.x; });\n")
    put(d + "/mo/spec.js", """
        const assert = require('assert');
        describe('queue', () => {
          for (let i = 0; i < 25; i++) it(`keeps order of ${i} items`, () => {});
          it('drops when full', () => { assert.strictEqual([1, 2].length, 3, 'queue did not drop'); });
          it('waits', (done) => { setTimeout(() => {}, 5000); }).timeout(50);
        });
        """)
    put(d + "/nt/a.test.js", """
        const { test, describe } = require('node:test');
        const assert = require('node:assert');
        describe('parser', () => {
          for (let i = 0; i < 25; i++) test(`parses number ${i}`, () => {});
          test('rejects bad input', () => { assert.equal(JSON.stringify({ a: 1 }), '{"a":2}'); });
          test('todo one', { todo: true }, () => {});
        });
        """)
    put(d + "/vt/a.test.js", """
        import { test, expect, describe } from 'vitest';
        describe('dates', () => {
          for (let i = 0; i < 20; i++) test(`formats day ${i}`, () => {});
          test('parses zone', () => { expect('2024-01-01T00:00:00+02:00').toContain('Z'); });
        });
        """)
    put(d + "/crash.js", """
        async function query(sql) { throw new Error('connect ECONNREFUSED 127.0.0.1:5432'); }
        async function load() { try { await query('select 1'); } catch (e) { throw new Error('cannot load users', { cause: e }); } }
        load();
        """)


def go_project(w):
    d = w + "/go"
    put(d + "/go.mod", "module example.com/demo\n\ngo 1.19\n")
    put(d + "/calc/calc.go", "package calc\n\nfunc Add(a, b int) int { return a + b }\nfunc Div(a, b int) int { return a / b }\n")
    put(d + "/calc/calc_test.go", """
        package calc

        import ("fmt"; "testing")

        func TestAdd(t *testing.T) { if Add(1, 2) != 4 { t.Errorf("Add(1, 2) = %d, want 4", Add(1, 2)) } }
        func TestMany(t *testing.T) {
          for i := 0; i < 30; i++ {
            t.Run(fmt.Sprintf("n=%d", i), func(t *testing.T) { if i == 21 { t.Fatalf("bad value %d", i) } })
          }
        }
        func TestZ(t *testing.T) { Div(1, 0) }
        """)
    put(d + "/bad/bad.go", "package main\n\nimport (\"fmt\"; \"os\")\n\nfunc main() {\n\tvar x int = \"a\"\n\tfmt.Println(y)\n\tz := 3\n}\n")
    put(d + "/ok/ok.go", "package ok\n\nfunc One() int { return 1 }\n")


def rust_project(w):
    d = w + "/rs"
    put(d + "/Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    put(d + "/src/lib.rs", """
        pub fn add(a: i32, b: i32) -> i32 { a + b }
        fn never_used() {}
        #[cfg(test)]
        mod tests {
            use super::*;
            #[test] fn adds() { assert_eq!(add(1, 2), 3); }
            #[test] fn adds_wrong() { assert_eq!(add(1, 2), 4, "sum is off"); }
            #[test] fn panics() { let v: Vec<i32> = vec![]; let _ = v[3]; }
            #[test] #[ignore] fn slow() {}
        }
        """)
    put(w + "/rsbad/Cargo.toml", "[package]\nname = \"bad\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    put(w + "/rsbad/src/main.rs", """
        struct Reader { name: String }
        fn take(r: Reader) -> usize { r.name.len() }
        fn main() {
            let r = Reader { name: String::from("a") };
            let n = take(r);
            println!("{} {}", r.name, n);
            let x: u32 = "five";
            let unused = 3;
            missing_fn(x);
        }
        """)


def java_project(w):
    put(w + "/java/Main.java", """
        import java.util.*;
        public class Main {
          static int depth(int n) { if (n == 0) throw new IllegalStateException("queue is closed"); return depth(n - 1); }
          public static void main(String[] a) {
            try { depth(12); } catch (RuntimeException e) { throw new RuntimeException("worker 7 stopped", e); }
          }
        }
        """)
    put(w + "/java/Bad.java", """
        import java.util.List;
        public class Bad {
          int count() { return "three"; }
          void go() { List<String> l = new ArrayList<>(); l.ad("x"); int y = z; }
        }
        """)


def git_project(w):
    d = w + "/git"
    if os.path.exists(d + "/.git"):
        return
    os.makedirs(d, exist_ok=True)
    sh("git init -q -b main . && git config user.name Ann && git config user.email ann@example.com", d)
    for i in range(45):
        put(f"{d}/src/file{i % 15}.txt", "\n".join(f"line {j} of version {i}" for j in range(60)) + "\n")
        day = f"2026-02-{1 + i % 28:02}T10:00:00"
        sh(f"git add -A && GIT_AUTHOR_DATE={day} GIT_COMMITTER_DATE={day} git commit -qm 'Change {i}: adjust the text of file {i % 15}' -m 'The lines were stale. Update them to version {i}.'", d)
    sh("git tag v1.0 HEAD~20; git checkout -q -b topic HEAD~3; sed -i '10s/.*/topic line/' src/file14.txt; git commit -qam 'Topic: change line 10'; git checkout -q main; sed -i '10s/.*/main line/' src/file14.txt; git commit -qam 'Main: change line 10'", d)
    sh("git clone -q --bare . ../git_remote.git; git remote add origin ../git_remote.git; git fetch -q origin; git branch -q -u origin/main", d)
    sh("git clone -q ../git_remote.git ../git_other; cd ../git_other; git config user.name Bob; git config user.email b@example.com; echo other >> src/file3.txt; git commit -qam 'Other work'; git push -q", d)
    for i in range(26):
        put(f"{d}/generated/out_{i:03}.json", "{}\n")
    for i in (2, 5, 9):
        sh(f"sed -i '5s/.*/edited {i}/; 30,32d' src/file{i}.txt", d)
    sh("git rm -q --cached src/file7.txt; echo new > src/added.c; git add src/added.c; echo x >> src/file1.txt; git add src/file1.txt", d)
    put(d + "/notes.txt", "todo\n")


def files_project(w):
    d = w + "/files"
    for i in range(140):
        put(f"{d}/photos/2024/IMG_{4000 + i}.jpg", "x" * (i * 37 % 5000))
    for m in ("alpha", "beta", "gamma"):
        for i in range(18):
            put(f"{d}/pkg/{m}/module_{i}/index.js", f"// TODO: rename {m} {i}\nmodule.exports = {i};\n")
            put(f"{d}/pkg/{m}/module_{i}/package.json", "{}\n")
    put(d + "/README.md", "# Files\n")
    put(d + "/secret/key.pem", "no\n")
    put(d + "/a.conf", "\n".join(f"key{i} = {i}" for i in range(120)) + "\n")
    put(d + "/b.conf", "\n".join(f"key{i} = {i if i not in (17, 60, 61) else 'changed'}" for i in range(120)) + "\nextra = 1\n")


def infra_project(w):
    put(w + "/tf/main.tf", """
        resource "terraform_data" "web" {
          count = 12
          input = "web-${count.index}"
        }
        resource "terraform_data" "db" {
          input = var.missing
        }
        """)
    put(w + "/tfok/main.tf", """
        resource "terraform_data" "web" {
          count = 12
          input = "web-${count.index}"
        }
        output "n" { value = 12 }
        """)
    put(w + "/sh/script.sh", """
        #!/bin/bash
        for f in $(ls *.txt); do
          cat $f | grep foo
          if [ $x = "a" ]; then echo `date`; fi
        done
        cd /nowhere
        rm -rf $DIR/*
        """)
    put(w + "/sh/steps.sh", """
        set -u
        for i in $(seq 1 25); do echo "ok: step $i"; done
        cp /nonexistent/file /tmp/ ; touch /proc/forbidden; nosuchcommand --x
        echo "All checks passed"
        exit 1
        """)
    put(w + "/mvn/pom.xml", """
        <project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
          <groupId>x</groupId><artifactId>demo</artifactId><version>1</version>
          <dependencies><dependency><groupId>no.such</groupId><artifactId>thing</artifactId><version>9.9</version></dependency></dependencies>
        </project>
        """)


def make_projects(w):
    for make in (c_project, cmake_project, python_project, node_project, go_project, rust_project, java_project, git_project, files_project,
                 infra_project):
        make(w)
