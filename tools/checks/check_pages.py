#!/usr/bin/env python3
"""Looks at report pages in a headless Chromium, as readers do: at the widths of a phone and of a
desk, light and dark.

    tools/checks/check_pages.py --browser chromium-headless-shell --pictures FOLDER PAGE.html...

Each page must be no wider than the window, write nothing to the console, load nothing, violate no
content security policy, and show every figure with a size and with words inside its canvas. Pictures of
what was seen lie in FOLDER. Exit code 1 where one of these does not hold.

Only Python's standard library: the browser is spoken to over the two pipes of
--remote-debugging-pipe (descriptors 3 and 4, messages end in a zero byte).
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")

# What a reader would see to be wrong, as a list of sentences.
LOOK = r"""
(() => {
  const problems = [];
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].filter(
        (e) => e.getBoundingClientRect().right > page.clientWidth + 1 && !e.closest(".scroll, pre"));
    problems.push(`the page is ${page.scrollWidth} wide in a window of ${page.clientWidth}: ` +
        wide.slice(0, 3).map((e) => `${e.tagName}.${e.className}`).join(", "));
  }
  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg");
    const box = svg ? svg.getBoundingClientRect() : {width: 0, height: 0};
    if (box.width < 200 || box.height < 80) {
      problems.push(`${figure.id} is shown at ${box.width} x ${box.height}`);
      continue;
    }
    if (!svg.querySelector("path, polygon, circle")) problems.push(`${figure.id} is empty`);
    for (const word of svg.querySelectorAll("text")) {
      const r = word.getBoundingClientRect();
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.bottom > box.bottom + 1) {
        problems.push(`${figure.id}: "${word.textContent}" leaves its canvas`);
      }
    }
    if (svg.getAttribute("role") !== "img" || !svg.querySelector("title")?.textContent) {
      problems.push(`${figure.id} has no name for screen readers`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`id ${id} twice`);
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    if (!document.getElementById(link.hash.slice(1))) problems.push(`${link.hash} leads nowhere`);
  }
  const named = document.querySelectorAll("[aria-labelledby]");
  for (const e of named) for (const id of e.getAttribute("aria-labelledby").split(" ")) {
    if (!document.getElementById(id)) problems.push(`${id} names something and is not there`);
  }

  // Contrast of words, WCAG 2.1: 4.5, or 3 for large ones.
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
      .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = (e) => {
    for (; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (!e.textContent.trim() || ["SCRIPT", "STYLE", "TITLE", "DESC"].includes(e.tagName.toUpperCase())) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const style = getComputedStyle(e);
    const ink = rgba(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [luminance(ink), luminance(paper(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const where = `${e.tagName}.${e.getAttribute("class") ?? ""}`;
    if (contrast < (large ? 3 : 4.5) && !seen.has(where)) {
      seen.add(where);
      problems.push(`${where} has a contrast of ${contrast.toFixed(2)}`);
    }
  }
  return JSON.stringify(problems);
})()
"""

# Opens everything that can be opened and uses what script adds.
USE = r"""
(() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  for (const button of document.querySelectorAll("th button")) button.click();
  for (const svg of document.querySelectorAll("figure.live svg")) {
    const box = svg.getBoundingClientRect();
    svg.dispatchEvent(new PointerEvent("pointermove",
        {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true}));
  }
  const tips = [...document.querySelectorAll(".tip")].filter((tip) => !tip.hidden && tip.textContent);
  return JSON.stringify({report: document.querySelector("main h2") !== null,
                         live: document.querySelectorAll("figure.live").length, tips: tips.length,
                         title: document.title});
})()
"""


class Browser:
    """A headless Chromium, one page at a time."""

    def __init__(self, program, profile):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def hand_over():
            # The browser expects descriptors 3 and 4. Copies first, so that neither overwrites the other.
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        flags = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
                 f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        self.process = subprocess.Popen([program, *flags], preexec_fn=hand_over, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.buffer:
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise SystemExit("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, params=None, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, method, params=None):
        return self.call(method, params, self.session)

    def wait_for(self, method):
        while not any(event["method"] == method for event in self.events):
            self.events.append(self.read())

    def evaluate(self, expression):
        answer = self.page("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise SystemExit(f"in the page: {answer['exceptionDetails']}")
        return json.loads(answer["result"]["value"])

    def close(self):
        self.call("Browser.close")
        self.process.wait(timeout=20)


def said(events, url):
    """What the browser complained of: console, policy, and whatever was fetched beside the page."""
    for event in events:
        params = event.get("params", {})
        if event["method"] == "Runtime.consoleAPICalled":
            yield f"console: {params['args']}"
        elif event["method"] == "Runtime.exceptionThrown":
            yield f"exception: {params['exceptionDetails'].get('exception', params)}"
        elif event["method"] == "Log.entryAdded":
            yield f"log: {params['entry']['text']}"
        elif event["method"] == "Network.requestWillBeSent" and params["request"]["url"] != url:
            yield f"fetches {params['request']['url'][:80]}"


def picture(browser, path):
    size = browser.page("Page.getLayoutMetrics")["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
    shot = browser.page("Page.captureScreenshot",
                        {"format": "png", "captureBeyondViewport": True, "clip": clip})
    path.write_bytes(base64.b64decode(shot["data"]))


def visit(browser, url, width, scheme, script):
    browser.events.clear()
    browser.page("Emulation.setDeviceMetricsOverride",
                 {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.page("Emulation.setEmulatedMedia",
                 {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.page("Emulation.setScriptExecutionDisabled", {"value": not script})
    browser.page("Page.navigate", {"url": url})
    browser.wait_for("Page.loadEventFired")


def check(browser, page, pictures):
    """The problems of one page, each with where it was seen."""
    url = page.resolve().as_uri()
    name = page.resolve().parent.parent.parent.name if page.name == "index.html" else page.stem
    for width in WIDTHS:
        for scheme in SCHEMES:
            where = f"{page}, {width} pixels, {scheme}"
            visit(browser, url, width, scheme, script=True)
            problems = browser.evaluate(LOOK)
            picture(browser, pictures / f"{name}-{width}-{scheme}.png")
            used = browser.evaluate(USE)
            problems += [f"opened: {problem}" for problem in browser.evaluate(LOOK)]
            if not used["report"]:
                problems.append("there is no report")
            if used["tips"] != used["live"]:
                problems.append(f"{used['tips']} of {used['live']} figures show values")
            if used["title"] == "owned":
                problems.append("a text of the data ran as script")
            problems += said(browser.events, url)
            yield from (f"{where}: {problem}" for problem in problems)
    # Without script the page says the same.
    visit(browser, url, WIDTHS[0], "light", script=False)
    picture(browser, pictures / f"{name}-no-script.png")
    yield from (f"{page}, without script: {problem}" for problem in said(browser.events, url))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--browser", default="chromium-headless-shell")
    parser.add_argument("--pictures", type=pathlib.Path, required=True)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    options.pictures.mkdir(parents=True, exist_ok=True)
    problems = []
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(options.browser, profile)
        for page in options.pages:
            problems += check(browser, page, options.pictures)
        browser.close()
    for problem in dict.fromkeys(problems):
        print(problem)
    print(f"{len(options.pages)} pages, {len(problems)} problems; pictures in {options.pictures}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
