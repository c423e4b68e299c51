#!/usr/bin/env python3
"""Uses the page of `tandem serve` in a headless Chromium as people do: by keyboard, on a phone and on a
desk, light and dark.

    tools/checks/check_search_page.py --pictures FOLDER [--browser chromium-headless-shell] [--server URL]

A stand-in server gives answers that a real one gives rarely or at bad moments: texts that are markup,
refusals, an answer that comes after a later one's. --server adds a real one with an index and a
calibrated model, to whose page the same first steps are done. Pictures of what was seen lie in FOLDER. Exit
code 1 where something is wrong. Only Python's standard library.
"""

import argparse
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import time
import urllib.request

from check_pages import LOOK, SCHEMES, WIDTHS, Browser, picture, said, visit

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src/serve/page"
TOKEN = "correct horse"
HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script> & \u202egnp.exe'
PASSAGE = "It converts between almost all formats of audio and video and can resize video on the fly."
LONG = ("\U0001f3ac FFmpeg is the leading multimedia framework. " * 12 + PASSAGE
        + " It is made of many libraries." * 20)


# --- the stand-in ----------------------------------------------------------------------------------


# As src/serve/service.cc sends it.
POLICY = ("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
FILES = {"/": ("page.html", "text/html"), "/page.css": ("page.css", "text/css"),
         "/page.js": ("page.js", "text/javascript")}


def passage(text, part):
    start = text.index(part)
    return {"start": start, "end": start + len(part), "text": part}


def documents(count):
    """Made results of a calibrated model, best first."""
    names = ["ffmpeg", "handbrake", HOSTILE, "an-identifier-without-blanks-" + "x" * 90, "ثبات"]
    texts = [LONG, "Transcodes video from nearly any format to modern, widely supported codecs.", HOSTILE,
             "w" * 400, "مشغل وسائط متعددة حر. It plays most files."]
    highlights = [PASSAGE, "Transcodes video", "<script>", None, None]
    results = []
    for i in range(count):
        results.append({
            "id": names[i] if i < len(names) else f"package-{i}", "score": 0.83 - 0.031 * i,
            "probability": max(0.0005, 0.97 - 0.06 * i),
            "text": texts[i] if i < len(texts) else f"Text of package {i}, which has little to do with it.",
            "highlight": None})
        if i < len(highlights) and highlights[i]:
            results[i]["highlight"] = passage(texts[i], highlights[i])
    for i, title in ((1, "HandBrake: video transcoder"), (2, f"Title {HOSTILE}")):
        if i >= count:
            break
        results[i]["title"] = title
        results[i]["text"] = f"{title} {texts[i]}"
        results[i]["highlight"] = passage(results[i]["text"], highlights[i])
    if count > 5:  # a passage under a heading
        results[5]["text"] = f"Heading 5\n\n{results[5]['text']}"
    return results


class StandIn(http.server.ThreadingHTTPServer):
    """A server whose moods are attributes."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.index = True
        self.calibrated = True
        self.token = False
        self.promises = []
        self.refusals = 0  # of the next searches
        self.searches = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, content, kind="application/json", **headers):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:  # the page asks something else by now
            self.close_connection = True

    def refuse(self, status, message, **headers):
        self.send(status, {"error": {"message": message, "type": "error", "code": "code"}}, **headers)

    def allowed(self):
        if not self.server.token or self.headers.get("Authorization") == f"Bearer {TOKEN}":
            return True
        self.refuse(401, "a token is missing")
        return False

    def do_GET(self):
        if self.path.split("?")[0] in FILES:
            name, kind = FILES[self.path.split("?")[0]]
            self.send(200, (PAGE / name).read_bytes(), f"{kind}; charset=utf-8", Content_Security_Policy=POLICY)
        elif self.path == "/info" and self.allowed():
            self.send(200, self.information())
        elif self.path != "/info":
            self.refuse(404, "there is nothing here")

    def information(self):
        index = {"documents": 6000, "kind": "exact", "texts": True,
                 "fields": [{"name": "section", "type": "string"}, {"name": "size", "type": "number"}]}
        return {"model": {"name": "mann_whitney", "calibrated": self.server.calibrated},
                "index": index if self.server.index else None, "limits": {"k": 50},
                "promises": self.server.promises, "keep": ""}

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        if self.path == "/similarity":
            self.send(200, {"scores": [0.612], "probabilities": [0.71]})
            return
        self.server.searches.append(body)
        if self.server.refusals > 0:
            self.server.refusals -= 1
            self.refuse(429, "the queue is full", Retry_After="1")
        elif body["query"] == "refuse":
            self.refuse(400, f"filter: field {HOSTILE} is not there")
        elif body["query"] == "nothing":
            self.send(200, {"results": []})
        else:
            if body["query"] == "slow":
                time.sleep(1.5)
            results = documents(body["k"])
            if body["query"] == "slow":
                results[0]["id"] = "late"
            if not self.server.calibrated:
                for result in results:
                    result["probability"] = None
            answer = {"results": results, "milliseconds": 2.34}
            if body.get("keep"):
                answer["keep"] = {"promise": body["keep"], "sentence": "answers keep enough", "threshold": 0, "cut": 0,
                                  "filtered": "filter" in body, "other_queries": False}
            self.send(200, answer)


# --- a reader's hands -----------------------------------------------------------------------------


class Reader:
    """A browser with a page of the server, and what was found to be wrong."""

    def __init__(self, browser, url, pictures):
        self.browser = browser
        self.url = url
        self.pictures = pictures
        self.problems = []
        self.where = ""

    def open(self, where, width=1280, scheme="light", path=""):
        self.where = where
        visit(self.browser, "about:blank", width, scheme, script=True)
        visit(self.browser, self.url + path, width, scheme, script=True)
        self.until("!document.querySelector('#search-form').hidden || !document.querySelector('#compare-form').hidden "
                   "|| !document.querySelector('#token-form').hidden", "the page begins")

    def evaluate(self, expression):
        return self.browser.evaluate(f"JSON.stringify({expression})")

    def expect(self, expression, what):
        found = self.evaluate(expression)
        if found is not True:
            self.problems.append(f"{self.where}: {what}: {found}")

    def until(self, expression, what, seconds=5):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                self.problems.append(f"{self.where}: waited in vain: {what}")
                return
            time.sleep(0.03)

    def press(self, key):
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "/": 191}
        text = {"Enter": "\r", "/": "/"}.get(key)
        event = {"key": key, "code": "Slash" if key == "/" else key, "windowsVirtualKeyCode": codes[key]}
        self.browser.page("Input.dispatchKeyEvent",
                          {"type": "keyDown", **event, **({"text": text} if text else {})})
        self.browser.page("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def type(self, text):
        self.browser.page("Input.insertText", {"text": text})

    def drag(self, value):
        """Moves the threshold as a hand does: many inputs, one change."""
        self.evaluate(f"""(() => {{
          const slider = document.querySelector('#threshold');
          for (const share of [0.5, 1]) {{
            slider.value = String({value} * share);
            slider.dispatchEvent(new Event('input', {{bubbles: true}}));
          }}
          slider.dispatchEvent(new Event('change', {{bubbles: true}}));
          return true;
        }})()""")

    def look(self, name=None):
        """What LOOK finds, what lacks a name, what the browser complained of, and a picture."""
        found = self.browser.evaluate(LOOK)
        found += self.browser.evaluate("""JSON.stringify([
                ...document.querySelectorAll("input, select, textarea, button")]
            .filter((e) => e.offsetParent && !e.labels?.length && !e.getAttribute("aria-label")
                && !e.textContent.trim())
            .map((e) => `${e.tagName} ${e.id} has no name`))""")
        small = """JSON.stringify([...document.querySelectorAll("input, select, summary, button")]
            .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 24)
            .map((e) => `${e.tagName} ${e.id || e.className} is only ${e.getBoundingClientRect().height} high`))"""
        found += self.browser.evaluate(small)
        for line in said(self.browser.events, self.url):
            if not line.startswith((f"fetches {self.url}", "fetches data:,", "fetches about:blank")):
                found.append(line)
        if name:
            picture(self.browser, self.pictures / f"{name}.png")
        self.problems += [f"{self.where}: {problem}" for problem in found]


KEPT = "document.querySelectorAll('#kept li').length"
BELOW = "document.querySelectorAll('#below li').length"
FOCUS = "document.activeElement"


def search(reader, query, first):
    reader.type(query)
    reader.until(f"document.querySelector('#kept .name, #below .name')?.textContent === {json.dumps(first)}",
                 f"{first} is found")


# --- what is done ----------------------------------------------------------------------------------


def check_search(reader, server):
    """Typing, the threshold and texts that are markup, at every width and scheme."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            reader.open(f"search, {width} pixels, {scheme}", width, scheme)
            search(reader, "convert a video", "ffmpeg")
            reader.expect(f"{KEPT} === 20 && {BELOW} === 0", "all documents stand above no threshold")
            reader.expect("document.querySelector('#kept mark').textContent === " + json.dumps(PASSAGE),
                          "the best passage is marked")
            reader.expect("document.querySelector('.heading').textContent === 'Heading 5' && "
                          "document.querySelectorAll('#kept .text')[5].textContent.startsWith('Text of package 5')",
                          "a heading has a line of its own")
            asked = len(server.searches)
            reader.drag(0.5)
            reader.expect(f"{KEPT} === 8 && {BELOW} === 12", "a threshold of 50 % leaves 8 of 20")
            reader.expect("document.querySelector('#fallen-count').textContent.includes('12 of 20')",
                          "what falls is counted")
            reader.expect("location.search.includes('threshold=0.5')", "the address keeps the threshold")
            if len(server.searches) != asked:
                reader.problems.append(f"{reader.where}: the threshold asked the server again")
            reader.expect("document.title === 'Tandem' && !document.querySelector('.documents img, .documents script')",
                          "texts are no markup")
            reader.expect("document.querySelectorAll('.name')[2].textContent.includes('<script>')", "an id is text")
            reader.evaluate("(document.querySelector('#filters').open = true)")
            reader.look(f"search-{width}-{scheme}")
            reader.drag(0)
            reader.expect(f"{KEPT} === 20 && {BELOW} === 0", "documents come back")
            reader.expect("[...document.querySelectorAll('#kept .rank')]"
                          ".every((e, i) => e.textContent === String(i + 1))", "documents come back in order")


def check_keys(reader, server):
    del server
    reader.open("keys")
    reader.expect(f"{FOCUS}.id === 'question'", "the question has the focus")
    search(reader, "convert a video", "ffmpeg")
    reader.press("ArrowDown")
    reader.press("ArrowDown")
    reader.expect(f"{FOCUS}.querySelector('.name')?.textContent === 'HandBrake: video transcoder handbrake'",
                  "two steps down, and the title before the id")
    reader.expect(f"{FOCUS}.closest('li').querySelector('.text').textContent.startsWith('Transcodes video')",
                  "the text is shown without its title")
    reader.expect(f"{FOCUS}.closest('li').querySelector('mark').textContent === 'Transcodes video'",
                  "the passage is where it was")
    reader.press("ArrowUp")
    reader.expect(f"{FOCUS}.getAttribute('aria-expanded') === 'false'", "a text is closed")
    reader.press("Enter")
    reader.expect(f"{FOCUS}.getAttribute('aria-expanded') === 'true' && "
                  "document.querySelector('#text-1').textContent.length > 1000", "Enter opens a text")
    reader.look("opened-1280-light")
    reader.press("Enter")
    reader.expect(f"{FOCUS}.getAttribute('aria-expanded') === 'false'", "Enter closes it")
    reader.press("ArrowUp")
    reader.expect(f"{FOCUS}.id === 'question'", "up from the first document is the question")
    reader.press("ArrowDown")
    reader.press("Escape")
    reader.expect(f"{FOCUS}.id === 'question'", "Escape is the question")
    reader.press("ArrowDown")
    reader.press("/")
    reader.expect(f"{FOCUS}.id === 'question' && {FOCUS}.value === 'convert a video'", "/ is the question")
    reader.evaluate("(document.querySelector('#threshold').focus(), true)")
    for _ in range(3):
        reader.press("ArrowRight")
    reader.expect("document.querySelector('#threshold-value').textContent === '3 %'", "arrows move the threshold")


def check_filters(reader, server):
    reader.open("filters", path="?q=convert&k=10&threshold=0.9")
    reader.until(f"{KEPT} === 2 && {BELOW} === 8", "the address is followed")
    for place, text in (("section", "video"), ("size", "100")):
        reader.evaluate(f"(document.querySelector('#filters').open = true, "
                        f"document.querySelector('#fields input[data-field={place}]').focus(), true)")
        reader.type(text)
    reader.until("document.querySelector('#filters-set').textContent === '(2 set)'", "filters are counted")
    end = time.monotonic() + 3
    wanted = {"section": "video", "size": {">=": 100}}
    while server.searches[-1].get("filter") != wanted and time.monotonic() < end:
        time.sleep(0.05)
    if server.searches[-1].get("filter") != wanted:
        reader.problems.append(f"{reader.where}: the server got {server.searches[-1]}")


def check_promises(reader, server):
    """A promise is said, but not of an answer with a filter nor of what the slider leaves."""
    server.promises = ["recall=0.9"]
    says = "document.querySelector('#status').textContent.includes({})".format
    reader.open("promises", path="?q=convert")
    reader.until(f"{KEPT} === 20", "documents are found")
    reader.expect(f"!{says('`romised`')}", "nothing is promised unasked")
    reader.evaluate("(document.querySelector('#keep').value = 'recall=0.9', "
                    "document.querySelector('#keep').dispatchEvent(new Event('change')), true)")
    reader.until(says("`Promised: answers keep enough.`"), "the promise is said")
    reader.drag(0.5)
    reader.expect(f"{says('`Nothing is promised of what the slider leaves.`')} && !{says('`Promised:`')}",
                  "nothing is promised where the slider hides documents")
    reader.drag(0)
    reader.expect(says("`Promised: answers keep enough.`"), "the promise comes back")
    reader.evaluate("(document.querySelector('#filters').open = true, "
                    "document.querySelector('#fields input[data-field=section]').focus(), true)")
    reader.type("video")
    reader.until(f"{says('`Nothing is promised of a search with a filter.`')} && !{says('`Promised:`')}",
                 "nothing is promised of a search with a filter")
    server.promises = []


def check_order(reader, server):
    """An answer that comes late is that of a question which is no longer asked."""
    reader.open("late answers")
    before = len(server.searches)
    reader.type("slow")
    end = time.monotonic() + 3
    while len(server.searches) == before and time.monotonic() < end:
        time.sleep(0.02)
    reader.type("ly")
    reader.until(f"{KEPT} === 20", "the later question is answered")
    time.sleep(1.7)
    reader.expect("document.querySelector('#kept .name').textContent === 'ffmpeg'", "the later answer stays")


def check_refusals(reader, server):
    reader.open("refusals", width=390)
    server.refusals = 1
    search_started = len(server.searches)
    reader.type("convert a video")
    reader.until("document.querySelector('#problem').textContent.includes('busy')", "a full queue is said")
    reader.until(f"{KEPT} === 20", "the page asks again")
    if len(server.searches) != search_started + 2:
        reader.problems.append(f"{reader.where}: {len(server.searches) - search_started} searches for one refusal")
    reader.expect("document.querySelector('#problem').hidden", "the complaint goes")
    reader.open("an error", width=390)
    reader.type("refuse")
    reader.until("document.querySelector('#problem').textContent.includes('is not there')", "an error is said")
    reader.expect("document.title === 'Tandem' && !document.querySelector('#problem img')", "an error is no markup")
    reader.open("nothing")
    reader.type("nothing")
    reader.until("document.querySelector('#status').textContent.startsWith('No document')", "nothing is said")


def check_token(reader, server):
    server.token = True
    reader.open("token")
    reader.expect("!document.querySelector('#token-form').hidden", "a token is asked for")
    reader.type("wrong")
    reader.press("Enter")
    reader.until("document.querySelector('#token').value === '' && !document.querySelector('#token-form').hidden",
                 "a wrong token is asked for again")
    time.sleep(0.2)
    reader.type(TOKEN)
    reader.press("Enter")
    reader.until("!document.querySelector('#search-form').hidden", "the right one is taken")
    search(reader, "convert a video", "ffmpeg")
    server.token = False


def check_model(reader, server):
    """A server without an index, and one without a calibration."""
    server.index = False
    for width in WIDTHS:
        reader.open(f"compare, {width} pixels", width, "light" if width == 390 else "dark")
        reader.expect("document.querySelector('#search-form').hidden", "there is nothing to search")
        for place, text in (("query", "convert a video"), ("document", "FFmpeg converts")):
            reader.evaluate(f"(document.querySelector('#compare-{place}').focus(), true)")
            reader.type(text)
        reader.evaluate("(document.querySelector('#compare-form button').click(), true)")
        reader.until("document.querySelector('#comparison').textContent.includes('71 %')", "two texts are compared")
        reader.look(f"compare-{width}")
    server.index, server.calibrated = True, False
    reader.open("no calibration")
    search(reader, "convert a video", "ffmpeg")
    reader.expect("document.querySelector('#threshold-name').textContent === 'Lowest score'", "scores are cut")
    reader.drag(0.8)
    reader.expect(f"{KEPT} === 1", "a score of 0.8 leaves one")
    reader.look("scores-1280-light")
    server.calibrated = True


def check_real(reader):
    """The first steps on a real server's page."""
    with urllib.request.urlopen(reader.url + "info") as answer:
        fields = json.load(answer)["index"]["fields"]
    for width in WIDTHS:
        for scheme in SCHEMES:
            reader.open(f"real server, {width} pixels, {scheme}", width, scheme)
            reader.expect(f"document.querySelectorAll('#fields fieldset').length === {len(fields)}",
                          f"the index's fields can be filtered by: {fields}")
            reader.type("convert a video to another format")
            reader.until(f"{KEPT} > 0", "documents are found", seconds=20)
            reader.expect("document.querySelector('#kept mark') !== null", "a passage is marked")
            reader.drag(0.5)
            reader.expect(f"{KEPT} > 0 && {BELOW} > 0", "a threshold of 0.5 divides")
            reader.look(f"real-{width}-{scheme}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--browser", default="chromium-headless-shell")
    parser.add_argument("--pictures", type=pathlib.Path, required=True)
    parser.add_argument("--server", help="address of a `tandem serve` with an index: http://127.0.0.1:8080/")
    options = parser.parse_args()
    options.pictures.mkdir(parents=True, exist_ok=True)
    server = StandIn()
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(options.browser, profile)
        reader = Reader(browser, server.url, options.pictures)
        for check in (check_search, check_keys, check_filters, check_promises, check_order, check_refusals, check_token,
                      check_model):
            check(reader, server)
        if options.server:
            real = Reader(browser, options.server, options.pictures)
            check_real(real)
            reader.problems += real.problems
        browser.close()
    server.shutdown()
    for problem in dict.fromkeys(reader.problems):
        print(problem)
    print(f"page of the server: {len(reader.problems)} problems; pictures in {options.pictures}")
    return 1 if reader.problems else 0


if __name__ == "__main__":
    sys.exit(main())
