// The page of the server: asks POST search while somebody types, and shows what falls below a threshold
// without asking again. Texts of documents only ever become text nodes.
"use strict";
(() => {
  const WAIT_MS = 220; // after the last key, so that a word costs one search
  const MARKED_BEFORE = 80; // characters that stand before a marked passage while its text is closed

  const get = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  let info = null;
  let byProbability = false;
  let answered = null; // {text, keep}: what the status says of the last answer, and the promise that it keeps
  let shown = []; // {item, value, button}: the documents of the last answer, best first
  let asked = ""; // the request that was sent last, so that the same one is not sent again
  let pending = null; // AbortController of the request on its way
  let timer = 0;

  // --- the server ------------------------------------------------------------------------------------

  // Resolves to the answer; rejects with an Error whose `status` is HTTP's and whose message is the server's.
  const ask = async (path, body, signal) => {
    const headers = {};
    const token = sessionStorage.getItem("token");
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
    const text = await answer.text();
    let content = null;
    try { content = JSON.parse(text); } catch { /* a proxy's own page */ }
    if (answer.ok && content) return content;
    const error = new Error(content?.error?.message ?? `the server answered with status ${answer.status}`);
    error.status = answer.status;
    error.retryAfter = Number(answer.headers.get("Retry-After")) || 1;
    throw error;
  };

  const say = (text) => { get("status").textContent = text; };
  const complain = (text) => {
    get("problem").textContent = text;
    get("problem").hidden = !text;
  };

  const fail = (error, again) => {
    if (error.name === "AbortError") return;
    asked = "";
    answered = null;
    say("");
    if (error.status === 401) {
      sessionStorage.removeItem("token");
      get("token-form").hidden = false;
      get("token").focus();
      complain("");
    } else if (error.status === 429 || error.status === 503) {
      complain(`The server is busy; this page asks again in ${error.retryAfter} s.`);
      timer = setTimeout(again, error.retryAfter * 1000);
    } else if (error.status === undefined) {
      complain("The server does not answer. Is it still running?");
    } else {
      complain(error.message);
    }
  };

  // --- documents -------------------------------------------------------------------------------------

  const number = (value) => (Number.isFinite(value) ? value.toFixed(3) : "-");
  const percent = (value) => `${(100 * value).toFixed(value > 0.1 ? 0 : 1)} %`;

  // The text as nodes, with the passage [begin, end) marked.
  const fillText = (paragraph, text, passage, whole) => {
    paragraph.className = whole ? "text whole" : "text";
    if (!passage || (whole && passage.begin === 0 && passage.end === text.length)) {
      paragraph.replaceChildren(text);
      return;
    }
    // While the text is closed it starts a little before the passage, at a blank.
    let start = whole ? 0 : Math.max(0, passage.begin - MARKED_BEFORE);
    if (start > 0) start = Math.min(passage.begin, (text.indexOf(" ", start) + 1) || passage.begin);
    paragraph.replaceChildren(start > 0 ? "… " : "", text.slice(start, passage.begin),
      make("mark", "", text.slice(passage.begin, passage.end)), text.slice(passage.end));
  };

  // The passage as places in a string of script, where some characters are two units.
  const passageOf = ({ text, highlight }) => {
    if (!highlight) return null;
    const characters = [...text];
    const begin = characters.slice(0, highlight.start).join("").length;
    return { begin, end: begin + characters.slice(highlight.start, highlight.end).join("").length };
  };

  // The passage in a text without its first characters; null where nothing of it is left.
  const shifted = (passage, by) => (passage && passage.end > by
    ? { begin: Math.max(0, passage.begin - by), end: passage.end - by } : null);

  // The heading under which a passage stands: its first line, where a blank line follows and it is no sentence.
  const headingOf = (text) => /^([^\n]{1,120}[^\n.!?:;,])\n\n/u.exec(text)?.[1] ?? "";

  const numbersOf = (result) => {
    const numbers = make("span", "numbers");
    if (Number.isFinite(result.probability)) {
      numbers.append(make("strong", "", percent(result.probability)), ` probable · score ${number(result.score)}`);
    } else {
      numbers.append("score ", make("strong", "", number(result.score)));
    }
    return numbers;
  };

  const barOf = (share) => {
    const bar = make("span", "bar");
    bar.setAttribute("aria-hidden", "true");
    const filled = make("span");
    filled.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    bar.append(filled);
    return bar;
  };

  const makeDocument = (result, rank) => {
    const item = make("li");
    const button = make("button");
    button.type = "button";
    // A title says more than an id, which then stands after it.
    const title = typeof result.title === "string" ? result.title : "";
    const name = make("span", "name");
    name.append(make("bdi", "", title || result.id));
    const place = result.passage || (title ? result.id : "");
    if (place) {
      const id = make("small");
      id.append(make("bdi", "", place));
      name.append(" ", id);
    }
    button.append(make("span", "rank", String(rank)), name, numbersOf(result),
      barOf(byProbability ? result.probability : result.score));
    item.append(button);
    if (typeof result.text === "string" && result.text) {
      const paragraph = make("p", "text");
      paragraph.id = `text-${rank}`;
      paragraph.dir = "auto";
      // The text begins with its title, which stands above it already, and perhaps a heading, which gets a line of
      // its own.
      let skipped = title && result.text.startsWith(`${title} `) ? title.length + 1 : 0;
      const heading = headingOf(result.text.slice(skipped));
      if (heading) {
        skipped += heading.length + 2;
        const line = make("p", "heading", heading);
        line.dir = "auto";
        item.append(line);
      }
      const text = result.text.slice(skipped);
      const passage = shifted(passageOf(result), skipped);
      fillText(paragraph, text, passage, false);
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-controls", paragraph.id);
      button.addEventListener("click", () => {
        const whole = button.getAttribute("aria-expanded") !== "true";
        button.setAttribute("aria-expanded", String(whole));
        fillText(paragraph, text, passage, whole);
      });
      item.append(paragraph);
    }
    return { item, button, value: byProbability ? result.probability : result.score };
  };

  // What the promise that was kept says of this answer.
  const keptText = ({ sentence, cut, filtered }, hidden) => {
    if (filtered) return " Nothing is promised of a search with a filter.";
    if (cut > 0) return " There may be more: nothing is promised of an answer that is cut at so many documents.";
    if (hidden > 0) return " Nothing is promised of what the slider leaves.";
    return ` Promised: ${sentence}.`;
  };

  // Says how much was found; with the promise, which the slider may take away.
  const sayAnswer = (hidden) => {
    if (!answered) return;
    const text = answered.text + (answered.keep ? keptText(answered.keep, hidden) : "");
    if (get("status").textContent !== text) say(text);
  };

  const show = ({ results, milliseconds, keep }, waited) => {
    shown = results.map((result, i) => makeDocument(result, i + 1));
    get("kept").replaceChildren();
    get("below").replaceChildren();
    setScale();
    const count = results.length === 0 ? "No document" : `${results.length} document${results.length === 1 ? "" : "s"}`;
    const server = Number.isFinite(milliseconds) ? `, of which the server took ${milliseconds.toFixed(1)} ms` : "";
    answered = { text: `${count} in ${waited} ms${server}.`, keep };
    divide();
    if (keep) get("other-queries").hidden = !keep.other_queries;
  };

  // --- the threshold ---------------------------------------------------------------------------------

  const threshold = () => Number(get("threshold").value);

  // Probabilities and cosines have a scale of their own; dot products have that of what was found.
  const setScale = () => {
    const slider = get("threshold");
    const values = shown.map((one) => one.value).filter(Number.isFinite);
    if (!byProbability && values.some((value) => value < 0 || value > 1)) {
      const kept = slider.value;
      slider.min = String(Math.floor(Math.min(0, ...values)));
      slider.max = String(Math.ceil(Math.max(1, ...values)));
      slider.step = String((slider.max - slider.min) / 200);
      slider.value = kept;
    }
    const [low, high] = [Number(slider.min), Number(slider.max)];
    get("marks").replaceChildren(...shown.map((one) => {
      const mark = make("span");
      mark.style.left = `${(100 * (one.value - low)) / (high - low)}%`;
      one.mark = mark;
      return mark;
    }));
  };

  // Puts each document into the list that it belongs to.
  const divide = () => {
    const lowest = threshold();
    const [kept, below] = [get("kept"), get("below")];
    const out = (one) => one.value < lowest;
    const place = (list, ones) => {
      ones.forEach((one, i) => { if (list.children[i] !== one.item) list.insertBefore(one.item, list.children[i] ?? null); });
    };
    place(kept, shown.filter((one) => !out(one)));
    place(below, shown.filter(out));
    for (const one of shown) one.mark?.classList.toggle("out", out(one));
    const count = below.children.length;
    get("fallen").hidden = count === 0;
    get("fallen-count").textContent = `${count} of ${shown.length} fall${count === 1 ? "s" : ""} below ${formatThreshold()}`;
    get("threshold-value").textContent = formatThreshold();
    get("threshold").setAttribute("aria-valuetext", `${formatThreshold()}: ${shown.length - count} of ${shown.length} documents stay`);
    sayAnswer(count);
  };

  const formatThreshold = () => (byProbability ? `${Math.round(100 * threshold())} %` : threshold().toFixed(2));

  // --- filters ---------------------------------------------------------------------------------------

  const fieldInput = (field, comparison, label) => {
    const input = make("input");
    input.type = field.type === "number" ? "number" : "text";
    if (field.type === "number") input.step = "any";
    input.dataset.field = field.name;
    input.dataset.comparison = comparison;
    input.placeholder = label;
    input.setAttribute("aria-label", `${field.name}: ${label}`);
    input.addEventListener("input", searchSoon);
    return input;
  };

  const makeFields = (fields) => {
    get("filters").hidden = fields.length === 0;
    get("fields").replaceChildren(...fields.map((field) => {
      const set = make("fieldset");
      set.append(make("legend", "", field.name));
      if (field.type === "number") {
        const range = make("div", "range");
        range.append(fieldInput(field, ">=", "from"), fieldInput(field, "<=", "to"));
        set.append(range);
      } else {
        set.append(fieldInput(field, "=", "is"));
      }
      return set;
    }));
  };

  // The promises that a search can keep, the server's own chosen.
  const makePromises = ({ promises = [], keep, watch }) => {
    get("keep-box").hidden = promises.length === 0;
    get("keep").replaceChildren(new Option("no promise", ""), ...promises.map((name) => new Option(name, name)));
    get("keep").value = keep ?? "";
    get("other-queries").hidden = !watch?.alarm;
  };

  const filter = () => {
    const conditions = {};
    for (const input of document.querySelectorAll("#fields input")) {
      const { field, comparison } = input.dataset;
      if (input.value === "") continue;
      if (comparison === "=") conditions[field] = input.value;
      else conditions[field] = { ...conditions[field], [comparison]: Number(input.value) };
    }
    const count = Object.keys(conditions).length;
    get("filters-set").textContent = count ? `(${count} set)` : "";
    return count ? conditions : undefined;
  };

  // --- searching -------------------------------------------------------------------------------------

  const clear = () => {
    pending?.abort();
    asked = "";
    answered = null;
    shown = [];
    get("kept").replaceChildren();
    get("below").replaceChildren();
    get("marks").replaceChildren();
    get("fallen").hidden = true;
    say("");
    complain("");
  };

  const remember = (query) => {
    const address = new URLSearchParams();
    if (query) address.set("q", query);
    if (threshold() !== 0) address.set("threshold", get("threshold").value);
    if (get("count").value !== "20") address.set("k", get("count").value);
    const text = address.toString();
    history.replaceState(null, "", text ? `?${text}` : location.pathname);
  };

  // Half of a question is none: what is asked while somebody types does not count where the server compares
  // queries with those that its promises were made for.
  const search = async (complete = false) => {
    clearTimeout(timer);
    const query = get("question").value.trim();
    remember(query);
    if (!query) {
      clear();
      return;
    }
    const request = { query, k: Number(get("count").value), texts: true, highlight: true, filter: filter(), watch: complete };
    if (info.promises?.length) request.keep = get("keep").value;
    const text = JSON.stringify(request);
    if (text === asked) return;
    asked = text;
    pending?.abort();
    pending = new AbortController();
    const start = performance.now();
    try {
      const answer = await ask("search", request, pending.signal);
      if (asked !== text) return;
      complain("");
      show(answer, Math.round(performance.now() - start));
    } catch (error) {
      fail(error, () => search(complete));
    }
  };

  function searchSoon() {
    clearTimeout(timer);
    timer = setTimeout(() => search(), WAIT_MS);
  }

  const compare = async () => {
    const request = { query: get("compare-query").value, documents: [get("compare-document").value] };
    try {
      const start = performance.now();
      const { scores: [score], probabilities } = await ask("similarity", request);
      const list = get("comparison");
      list.replaceChildren();
      for (const [name, value] of [["Score", number(score)], ["Probability", probabilities && percent(probabilities[0])]]) {
        if (!value) continue;
        const box = make("div");
        box.append(make("dt", "", name), make("dd", "", value));
        list.append(box);
      }
      list.hidden = false;
      complain("");
      say(`Compared in ${Math.round(performance.now() - start)} ms.`);
    } catch (error) {
      fail(error, compare);
    }
  };

  // --- keys ------------------------------------------------------------------------------------------

  const step = (by) => {
    const buttons = [...document.querySelectorAll(".documents button")].filter((button) => button.offsetParent);
    const at = buttons.indexOf(document.activeElement);
    const next = at + by;
    if (next < 0) get("question").focus();
    else if (next < buttons.length) {
      buttons[next].focus();
      buttons[next].closest("li").scrollIntoView({ block: "nearest" });
    }
  };

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const field = event.target.closest("input, select, textarea");
    const question = get("question");
    if (event.key === "/" && !field && !get("search-form").hidden) {
      question.focus();
      question.select();
    } else if (event.key === "Escape" && event.target !== question) {
      question.focus();
    } else if (event.key === "ArrowDown" && (!field || field === question)) {
      step(1);
    } else if (event.key === "ArrowUp" && !field && event.target.closest(".documents")) {
      step(-1);
    } else {
      return;
    }
    event.preventDefault();
  });

  // --- start -----------------------------------------------------------------------------------------

  const begin = async () => {
    try {
      info = await ask("info");
    } catch (error) {
      fail(error, begin);
      return;
    }
    complain("");
    get("token-form").hidden = true;
    const index = info.index;
    byProbability = Boolean(info.model.calibrated);
    // Programs may call the model otherwise than its folder is called: as the index into which it was copied.
    const { name, folder } = info.model;
    const model = folder && folder !== name ? `${folder} (for programs: ${name})` : name;
    get("about").textContent = index
      ? `${index.documents.toLocaleString("en")} ${index.by_document ? "passages" : "documents"}, index of kind ${index.kind}, model ${model}`
      : `Model ${model}`;
    get("compare-form").hidden = Boolean(index);
    get("search-form").hidden = !index;
    if (!index) return;
    get("threshold-name").textContent = byProbability ? "Lowest probability" : "Lowest score";
    makeFields(index.fields ?? []);
    makePromises(info);
    const address = new URLSearchParams(location.search);
    get("question").value = address.get("q") ?? "";
    for (const option of get("count").options) option.disabled = Number(option.value) > (info.limits?.k ?? Infinity);
    if (address.has("k")) get("count").value = address.get("k");
    if (!get("count").value) get("count").value = "20";
    get("threshold").value = address.get("threshold") ?? "0";
    divide();
    get("question").focus();
    search();
  };

  get("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("token", get("token").value.trim());
    get("token").value = "";
    get("token-form").hidden = true;
    begin();
  });
  get("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    search(true);
  });
  get("compare-form").addEventListener("submit", (event) => {
    event.preventDefault();
    compare();
  });
  get("question").addEventListener("input", searchSoon);
  get("count").addEventListener("change", () => search());
  get("keep").addEventListener("change", () => search());
  get("threshold").addEventListener("input", divide);
  get("threshold").addEventListener("change", () => remember(get("question").value.trim()));
  begin();
})();
