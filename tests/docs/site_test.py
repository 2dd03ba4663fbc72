"""tools/make_site.py: the website is whole, and what is wrong in it is found."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import make_site  # noqa: E402


class Site(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ttyward-site-")
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, folder):
        return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "tools/make_site.py"), folder], text=True, capture_output=True)

    def test_it_is_built_twice_into_the_same_folder(self):
        site = self.folder + "/site"
        for _ in range(2):
            done = self.make(site)
            self.assertEqual(done.returncode, 0, done.stderr)
        with open(site + "/index.html", encoding="utf-8") as f:
            first = f.read()
        self.assertIn('<img src="docs/images/panel/', first)
        self.assertIn('href="docs/policy.html#how-it-is-tested"', first)
        self.assertTrue(os.path.isfile(site + "/docs/images/panel/approvals-light.png"))

    def test_a_folder_of_somebody_else_is_left_alone(self):
        with open(self.folder + "/mine", "w"):
            pass
        self.assertIn("is not empty", self.make(self.folder).stderr)
        self.assertEqual(os.listdir(self.folder), ["mine"])

    def test_links_that_lead_nowhere_are_found(self):
        with open(self.folder + "/index.html", "w") as f:
            f.write('<h1 id="here">a</h1><a href="#here">a</a><a href="#there">b</a><a href="gone.html">c</a><a href="https://example.com">d</a>')
        count, pages, wrong = make_site.check(self.folder)
        self.assertEqual((count, pages), (3, 1))
        self.assertEqual([each.split(": ", 1)[1] for each in wrong],
                         ["#there: there is no such heading", "gone.html: there is no such file"])

    def test_markdown(self):
        def body(text):
            return make_site.Page(text, lambda target: target).body

        self.assertEqual(body("a `b < *c*` **d** *e* <f>"), "<p>a <code>b &lt; *c*</code> <strong>d</strong> <em>e</em> &lt;f&gt;</p>")
        self.assertEqual(body("[`a`](b.md) ![c](d.png)"), '<p><a href="b.md"><code>a</code></a> <img src="d.png" alt="c"></p>')
        self.assertEqual(body("- a\n  b\n  - c\n- d\n\nend"), "<ul><li><p>a\nb</p>\n<ul><li>c</li></ul></li>\n<li>d</li></ul>\n<p>end</p>")
        self.assertEqual(body("| a | b |\n|---|--:|\n| `x \\| y` | 2 |"),
                         '<div class="wide"><table><tr><th>a</th><th class=right>b</th></tr>\n'
                         "<tr><td><code>x | y</code></td><td class=right>2</td></tr></table></div>")
        self.assertEqual(body("```\n# no <heading>\n```\n## A `b`"), '<pre><code># no &lt;heading&gt;</code></pre>\n<h2 id="a-b">A <code>b</code></h2>')


if __name__ == "__main__":
    unittest.main()
