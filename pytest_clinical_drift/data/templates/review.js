// The review page: one text at a time with all its alarms; answers are kept as a chain of records and saved as a file.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const items = questions.unpacked(data);
  const storeKey = "clinical-drift-review/" + data.manifest + (data.part ? "/" + data.part : "");
  const $ = (id) => document.getElementById(id);
  let state = { reviewer: "", role: "", records: [], saved: 0, place: 0 };
  let active = 0; // which alarm of the screen is answered next
  let keeps = true;
  let pending = null; // an answer that waits for its reason
  const all = Array.from(questions.grouped(items, (item) => item.screen).values());
  const groups = questions.grouped(items, (item) => item.group);
  const lastAnswer = questions.index();
  let screens = all;
  const leads = (screen) => screen.filter((item) => item.lead);

  // ---- what is kept

  function load() {
    try { state = Object.assign(state, JSON.parse(localStorage.getItem(storeKey) || "{}")); } catch (error) { keeps = false; }
  }

  function keep() {
    try { localStorage.setItem(storeKey, JSON.stringify(state)); } catch (error) { keeps = false; }
    if (!keeps) tell("This browser keeps no progress: save the file before you close the page.", true);
  }

  function tell(text, bad) {
    $("status").textContent = text;
    $("status").classList.toggle("bad", Boolean(bad));
  }

  /** The last answer that the present reviewer gave to a question. */
  const answered = (item) => lastAnswer(state.records, state.reviewer, item.question);

  const entry = (item, answer) => data.answers[item.kind].find((a) => a.answer === answer);
  const needsReason = (item, answer) => item.severe && entry(item, answer).effect === "for";

  function append(item, answer, reason) {
    const last = state.records[state.records.length - 1];
    const record = {
      reviewer: state.reviewer, role: state.role, time: new Date().toISOString(), question: item.question,
      kind: item.kind, case_id: item.case_id, answer: answer, reason: reason, severe: item.severe,
      manifest: data.manifest, previous: last ? last.hash : "",
    };
    record.hash = chain.hash(record);
    state.records.push(record);
  }

  function save() {
    if (!state.records.length) return;
    const lines = state.records.map((record) => chain.ascii(record) + "\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
    link.download = "reviews.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    state.saved = state.records.length;
    keep();
    draw();
    tell("Saved " + count(state.records.length, "record") + " as reviews.jsonl.");
  }

  /** Take over a file saved before: only where its chain is whole, it is of this run, and nothing here would be lost. */
  async function open(file) {
    let records = [], fault = "";
    try {
      records = (await file.text()).split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
    } catch (error) { fault = "is not a reviews file"; }
    let previous = "";
    for (const record of records) {
      const { hash, ...content } = record;
      if (chain.hash(content) !== hash || record.previous !== previous) fault = fault || "was changed after it was written";
      if (record.manifest !== data.manifest) fault = fault || "was made for another run";
      previous = hash;
    }
    if (!fault && state.records.some((record, i) => !records[i] || records[i].hash !== record.hash)) fault = "lacks answers given here: save these first, then open both files with clinical-drift verdict";
    if (fault) return tell(file.name + " " + fault + ".", true);
    const last = records[records.length - 1];
    state = Object.assign(state, { records: records, saved: records.length });
    if (last && !state.reviewer) {
      Object.assign(state, { reviewer: last.reviewer, role: last.role });
      for (const id of ["reviewer", "role"]) $(id).value = state[id];
    }
    keep();
    draw();
    tell("Opened " + count(records.length, "record") + " from " + file.name + ".");
  }

  // ---- answering

  function ready() {
    for (const id of ["reviewer", "role"]) {
      if (!$(id).value.trim()) {
        tell("First say who you are and in which role you review.", true);
        $(id).focus();
        return false;
      }
    }
    return true;
  }

  const screen = () => screens[state.place] || [];
  const current = () => leads(screen())[active];

  function choose(answer) {
    const item = current();
    if (!item || !ready()) return;
    const before = answered(item);
    const written = $("reason").value.trim();
    // the reason for one answer is none for another
    const reason = before && before.answer !== answer && before.reason === written ? "" : written;
    if (needsReason(item, answer) && !reason) {
      pending = answer;
      press(answer);
      tell("To dismiss a severe alarm, give a reason; Enter records it.", true);
      $("reason").focus();
      return;
    }
    append(item, answer, reason);
    pending = null;
    keep();
    const open = leads(screen()).findIndex((other) => !answered(other));
    if (open >= 0) active = open;
    draw();
    tell("Recorded: " + entry(item, answer).label + "." + (left() ? "" : " That was the last one: save the file."));
    $(open >= 0 ? "asked" : left() ? "next" : "save").focus({ preventScroll: true });
  }

  /** What was answered on this screen, also for the other turns of the same facts. */
  function chooseGroup() {
    const others = following();
    if (!others.length) return;
    for (const [lead, other] of others) append(other, answered(lead).answer, answered(lead).reason);
    keep();
    next();
    tell("Recorded the same for " + count(others.length, "more turn") + ".");
  }

  const groupOf = (item) => groups.get(item.group);
  const following = () => leads(screen()).filter(answered).flatMap((lead) =>
    groupOf(lead).filter((other) => !other.lead && !answered(other)).map((other) => [lead, other]));
  const left = () => items.filter((item) => !answered(item)).length;
  const count = (number, what) => number + " " + what + (number === 1 ? "" : "s");

  const firstOpen = () => Math.max(0, leads(screen()).findIndex((item) => !answered(item)));

  function go(place, at) {
    state.place = Math.max(0, Math.min(screens.length - 1, place));
    active = at === undefined ? firstOpen() : at;
    pending = null;
    keep();
    tell("");
    draw();
    if ($("asked")) $("asked").focus({ preventScroll: true });
    $("card").scrollIntoView({ block: "start" });
  }

  /** On to the first screen after this one that has something without an answer. */
  function next() {
    for (let step = 1; step <= screens.length; step++) {
      const place = (state.place + step) % screens.length;
      if (leads(screens[place]).some((item) => !answered(item))) return go(place);
    }
    const rest = screens.findIndex((of) => of.some((item) => !answered(item)));
    if (rest >= 0) return go(rest, 0);
    draw();
    tell(left() ? "All that the filter shows is answered." : "All questions are answered: save the file.");
    $("save").focus();
  }

  function filter() {
    const wanted = $("filter").value, name = $("case").value.trim().toLowerCase();
    const fits = (item) => (!name || item.case_id.toLowerCase().includes(name)) &&
      (wanted === "all" || (wanted === "severe" ? item.severe : !answered(item)));
    screens = all.filter((of) => of.some(fits));
    go(0);
    if (!screens.length) tell("Nothing fits this filter.", true);
  }

  // ---- drawing: texts are set as text, never as markup

  function el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") element.onclick = value;
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  function marked(pieces) {
    const parts = pieces.map((piece, i) => (i % 2 ? el("mark", null, piece) : piece));
    return el("div", { class: "text", tabindex: "0" }, ...parts);
  }

  const folded = (title, body, open) => el("details", { open: open ? "" : null }, el("summary", null, title), body);
  const plain = (text) => el("div", { class: "text" }, text);
  const inSummary = (item) => ["fact", "invented", "misreported"].includes(item.kind);

  function where(item) {
    return el("p", { class: "where" },
      el("span", null, state.place + 1 + " of " + screens.length),
      el("span", null, item.case_id),
      el("span", null, item.earlier_turn ? "turns " + item.earlier_turn + " and " + item.turn : "turn " + item.turn),
      el("span", null, count(leads(screen()).length, "alarm")));
  }

  function about(item) {
    const title = item.kind === "fact" ? "Earlier values, which no longer hold:" : "";
    const list = item.before.length ? el("ul", null, ...item.before.map((text) => el("li", null, text))) : null;
    const caption = data.captions[item.kind];
    return [caption && item.about ? el("span", { class: "caption" }, caption + ": ") : null, item.about, list && title ? el("p", { class: "soft" }, title) : null, list];
  }

  /** One alarm of the screen: what is asked, the answer given, and then what others thought. */
  function alarm(item, at) {
    const given = answered(item), turns = groupOf(item).map((other) => other.turn).sort((a, b) => a - b);
    const head = el("button", { type: "button", class: "pick", "aria-pressed": String(at === active), onclick: () => go(state.place, at) },
      (given ? "✓ " : "") + (item.whole ? data.whole : data.questions)[item.kind]);
    return el("li", { class: at === active ? "alarm active" : "alarm" },
      el(at === active ? "h2" : "h3", at === active ? { id: "asked", tabindex: "-1" } : null, head),
      item.severe ? el("span", { class: "tag severe" }, "severe if confirmed") : null,
      turns.length > 1 ? el("span", { class: "soft" }, " one of " + turns.length + " turns in a row: " + turns.join(", ")) : null,
      el("div", { class: "about" }, ...about(item)),
      at === active ? decide(item, given) : null,
      revealed(item, given));
  }

  function texts(item) {
    const name = inSummary(item) ? "Summary" : "Reply";
    const later = el("section", null, el("h3", null, name + " of turn " + item.turn), marked(item.text));
    if (!item.earlier_turn) return [later];
    return [el("section", null, el("h3", null, "Reply of turn " + item.earlier_turn), marked(item.earlier)), later];
  }

  function context(item) {
    const same = groupOf(item).filter((other) => other !== item)
      .map((other) => el("section", null, el("h3", null, "Turn " + other.turn), marked(other.text)));
    return [el("h3", null, "Patient, turn " + item.turn), plain(item.message),
      item.messages ? folded("Patient's messages before", plain(item.messages)) : null,
      item.replies ? folded("Replies to the patient", plain(item.replies), true) : null,
      folded("Record: intake and what has changed", plain(item.record)),
      same.length ? folded("The same fact on the other turns", el("div", null, ...same)) : null];
  }

  function press(answer) {
    for (const button of document.querySelectorAll(".answers button"))
      button.setAttribute("aria-pressed", String(button.dataset.answer === answer));
  }

  function decide(item, given) {
    const buttons = data.answers[item.kind].map((choice, i) => {
      const key = choice.answer === "unsure" ? "0" : String(i + 1);
      return el("button", {
        type: "button", class: choice.effect, "data-answer": choice.answer, "data-key": key,
        "aria-pressed": String(given ? given.answer === choice.answer : false), onclick: () => choose(choice.answer),
      }, el("kbd", null, key), " " + choice.label);
    });
    const used = Array.from(new Set(state.records.map((record) => record.reason).filter(Boolean)));
    const reason = el("input", { id: "reason", list: "reasons", autocomplete: "off" });
    reason.value = given ? given.reason : "";
    return el("div", null,
      el("div", { class: "answers", role: "group", "aria-label": "Your answer" }, ...buttons),
      el("label", null, item.severe ? "Reason (required to dismiss)" : "Reason (optional)", reason),
      el("datalist", { id: "reasons" }, ...used.map((text) => el("option", { value: text }))));
  }

  function onward() {
    const others = following(), done = leads(screen()).every(answered);
    return el("div", { class: "row" },
      others.length && done ? el("button", { type: "button", id: "group", onclick: chooseGroup }, "Same for " + count(others.length, "more turn") + " ", el("kbd", null, "g")) : null,
      el("button", { type: "button", onclick: () => go(state.place - 1), "aria-label": "previous screen" }, el("kbd", null, "←")),
      el("button", { type: "button", id: "next", class: "next", onclick: next }, done ? "Next " : "Skip ", el("kbd", null, done ? "Enter" : "→")));
  }

  const opinion = (of) => el("div", null, el("p", null, el("strong", null, of.who + ": " + of.answer), of.reason ? " – " + of.reason : ""),
    of.quote ? el("blockquote", null, of.quote) : null);

  function revealed(item, given) {
    if (!given) return null;
    return el("div", { class: "revealed" }, el("p", null, el("strong", null, "You said " + entry(item, given.answer).label + ".")),
      el("p", null, item.why), ...item.opinions.map(opinion),
      item.opinions.length ? null : el("p", { class: "soft" }, "No judge was asked."),
      item.last.length ? el("h3", null, "Last release") : null, ...item.last.map(opinion));
  }

  // ---- a large review is in files beside the page, one for each case

  const requested = new Set();
  const missing = new Map(); // why a case cannot be shown

  function request(name) {
    if (requested.has(name)) return;
    requested.add(name);
    const script = el("script", { src: encodeURIComponent(data.beside) + "/" + encodeURIComponent(name) + ".js" });
    script.onerror = () => lacks(name, "The texts of this case are missing: keep the folder " + data.beside + " beside this page.");
    document.head.append(script);
  }

  function lacks(name, why) {
    missing.set(name, why);
    arrived(name);
    tell(why, true);
  }

  /** Draws the card only where it waits: on another one a reason may be half written. */
  function arrived(name) {
    if (current() && current().case_id === name) draw();
    else if ($("overview").open) drawList();
  }

  window.reviewTexts = (name, found) => {
    const ofCase = items.filter((item) => item.case_id === name);
    for (const item of ofCase) Object.assign(item, found[item.question]);
    if (!ofCase.every((item) => item.text)) return lacks(name, "The texts of this case in " + data.beside + " are of another review: copy the folder that was written with this page.");
    arrived(name);
    if (document.activeElement === document.body && $("asked")) $("asked").focus({ preventScroll: true });
  };

  function draw() {
    const item = current();
    if (item && !screen().every((of) => of.text)) {
      request(item.case_id);
      $("card").replaceChildren(where(item), plain(missing.get(item.case_id) || "Reading the texts of this case …"));
    } else if (item) $("card").replaceChildren(where(item),
      el("div", { class: item.earlier_turn ? "columns pair" : "columns" }, ...texts(item),
        el("section", { class: "asking" }, el("ol", { class: "alarms" }, ...leads(screen()).map(alarm)), onward(), ...context(item).filter(Boolean))));
    else $("card").replaceChildren();
    const done = items.length - left();
    const severe = items.filter((other) => other.severe && !answered(other)).length;
    const unsaved = state.records.length - state.saved;
    $("bar").value = done;
    $("count").textContent = done + " of " + items.length + " answered, " + severe + " severe left" +
      (unsaved ? ", " + count(unsaved, "record") + " not saved to a file yet" : "");
    $("save").disabled = !state.records.length;
    if ($("overview").open) drawList();
  }

  // ---- the list of all questions: by case where the review is large

  let folders = new Map();
  let foldedOf = null; // the screens that the folders are of

  function drawList() {
    const entries = screens.flatMap((of, place) => leads(of).map((item, at) => ({ item, place, at })));
    if (!data.beside) return $("list").replaceChildren(...entries.map(listed));
    const byCase = questions.grouped(entries, (one) => one.item.case_id);
    if (foldedOf !== screens) {
      foldedOf = screens;
      folders = new Map(Array.from(byCase.keys(), (name) => [name, folder(name)]));
      $("list").replaceChildren(...Array.from(folders.values(), (of) => el("li", null, of)));
    }
    for (const [name, of] of byCase) {
      const [title, list] = folders.get(name).children;
      title.textContent = name + ": " + of.filter((one) => answered(one.item)).length + " of " + of.length + " answered";
      if (folders.get(name).open) list.replaceChildren(...of.map(listed));
    }
  }

  function folder(name) {
    const made = el("details", null, el("summary", null, name), el("ol"));
    made.addEventListener("toggle", () => { if (made.open) { request(name); drawList(); } });
    return made;
  }

  function listed({ item, place, at }) {
    const given = answered(item);
    const text = (given ? "✓ " + entry(item, given.answer).label : "– open") + " · " + item.case_id + ", turn " + item.turn + " · " + (item.about || item.kind);
    return el("li", null, el("button", { type: "button", "aria-current": String(place === state.place && at === active), onclick: () => go(place, at) }, text));
  }

  // ---- keys

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (["INPUT", "SELECT"].includes(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      if (event.key === "Enter" && event.target.id === "reason") {
        event.preventDefault();
        const given = answered(current());
        if (pending) choose(pending);
        else if (given) choose(given.answer);
        else event.target.blur();
      }
      return;
    }
    const button = Array.from(document.querySelectorAll(".answers button")).find((b) => b.dataset.key === event.key);
    const steps = {
      Enter: () => (leads(screen()).every(answered) ? next() : null),
      ArrowRight: () => go(state.place + 1), ArrowLeft: () => go(state.place - 1),
      ArrowDown: () => go(state.place, Math.min(active + 1, leads(screen()).length - 1)), ArrowUp: () => go(state.place, Math.max(active - 1, 0)),
      g: chooseGroup, s: save, r: () => $("reason") && $("reason").focus(),
    };
    if (button) button.click();
    else if (event.key === "Enter" && ["BUTTON", "SUMMARY"].includes(event.target.tagName)) return;
    else if (steps[event.key]) steps[event.key]();
    else return;
    event.preventDefault();
  }

  /** Who reviews, as it is typed. The card changes only where answers may be another person's; the focus stays. */
  function introduce(id) {
    state[id] = $(id).value.trim();
    keep();
    if (id === "role" || !state.records.length) return;
    active = firstOpen();
    pending = null;
    draw();
  }

  load();
  $("headline").textContent = data.headline;
  $("reviewer").value = state.reviewer;
  $("role").value = state.role;
  for (const id of ["reviewer", "role"])
    $(id).addEventListener("input", () => introduce(id));
  $("who").addEventListener("submit", (event) => event.preventDefault());
  $("save").addEventListener("click", save);
  $("open").addEventListener("change", (event) => event.target.files.length && open(event.target.files[0]));
  for (const id of ["filter", "case"]) $(id).addEventListener("change", filter);
  $("overview").addEventListener("toggle", drawList);
  document.addEventListener("keydown", onKey);
  window.addEventListener("storage", () => { const place = state.place; load(); state.place = place; draw(); }); // another tab
  state.place = Math.max(0, Math.min(screens.length - 1, state.place));
  draw();
})();
