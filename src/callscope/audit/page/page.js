// The review page: one item at a time, keyboard first, every answer sent at once and sent again until it is kept.
// All foreign text goes in by textContent alone.
"use strict";

const $ = (id) => document.getElementById(id);
const RETRY_MS = 1000;
const TYPING_MS = 400;

// mine: what stands on the page; before: what of it was last known to be kept
const state = { order: [], done: new Set(), design: "", at: 0, item: null, mine: null, before: null, current: 0, turning: false };
const alarms = { saving: "", loading: "" };
const waiting = new Map(); // item id -> what is to be kept of it; the newest alone matters
const refused = new Map(); // item id -> why it is not kept
let [sending, typing, opening] = [false, 0, 0];

function make(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

async function ask(path, options) {
  const response = await fetch(path, { cache: "no-store", ...options });
  const text = await response.text();
  let body;
  try { body = JSON.parse(text); } catch { body = { fault: `the server said ${response.status}: ${text.trim().slice(0, 200)}` }; }
  if (!response.ok) throw Object.assign(new Error(body.fault), { told: true });
  return body;
}

// ---------------------------------------------------------------------------------------------------------- keeping

function keep() {
  const id = state.item.id;
  const before = waiting.has(id) ? waiting.get(id).before : state.before;
  waiting.set(id, { said: structuredClone(state.mine), before: structuredClone(before), whole: whole() });
  $("saved").textContent = "saving…";
  void send();
}

async function send() {
  if (sending) return;
  sending = true;
  while (waiting.size) {
    const [id, entry] = waiting.entries().next().value;
    try {
      const kept = await ask(`answers/${id}`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...entry.said, before: entry.before }),
      });
      refused.delete(id);
      if (waiting.get(id) === entry) waiting.delete(id);
      state.done[kept.complete ? "add" : "delete"](id);
      if (state.item && state.item.id === id && !state.turning) was_kept(entry, kept);
      alarm("saving", [...refused.values()][0] || "");
      progress();
    } catch (error) {
      const why = error.told ? `Not saved: ${error.message}` : "Not saved: the server does not answer. Trying again; leave this page open.";
      refused.set(id, why);
      if (error.told && waiting.get(id) === entry) { // what is refused holds up nothing else
        waiting.delete(id);
        waiting.set(id, entry);
      }
      alarm("saving", why);
      $("saved").textContent = "NOT SAVED";
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  sending = false;
  $("saved").textContent = "saved";
}

// What is kept is known now; what another page of this reviewer has changed meanwhile is taken over.
function was_kept(entry, kept) {
  state.before = structuredClone(entry.said);
  $("fault").textContent = kept.correction_fault ? `Not kept: ${kept.correction_fault}` : "";
  take_over(entry.said, entry.said.correction === entry.before.correction ? kept.mine : { ...kept.mine, correction: entry.said.correction });
}

function take_over(known, kept) {
  if (!same(state.mine, known) || typed_more()) return;
  const correction = $("fault").textContent ? state.mine.correction : kept.correction; // half-written gold stays
  if (same(state.mine, { ...kept, correction })) return;
  state.mine = structuredClone({ ...kept, correction });
  state.before = structuredClone(state.mine);
  fill();
  mark();
}

function same(one, other) {
  const answers = state.item.questions.every(({ name }) => one.answers[name] === other.answers[name]);
  return answers && one.note === other.note && one.correction === other.correction;
}

const typed_more = () => $("note").value !== state.mine.note || $("correction").value !== state.mine.correction;

const whole = () => state.item.questions.every((question) => state.mine.answers[question.name]);

function alarm(what, text) {
  alarms[what] = text;
  const said = alarms.saving || alarms.loading; // what was not saved matters more
  if ($("alarm").textContent !== said) $("alarm").textContent = said;
  $("alarm").hidden = !said;
}

function progress() {
  const [done, all] = [state.done.size, state.order.length];
  $("progress").max = Math.max(all, 1);
  $("progress").value = done;
  $("count").textContent = `${done} of ${all}`;
}

// ---------------------------------------------------------------------------------------------------------- showing

function block(parent, title, ...children) {
  parent.append(make("h2", title), ...children);
}

function calls(list) {
  return list.flatMap((call) => [
    make("h3", call.kind === "or" ? `or ${call.name}` : call.name),
    make("pre", call.arguments),
  ]);
}

function folded(title, ...children) {
  const details = make("details");
  details.append(make("summary", title), ...children);
  return details;
}

function show(item) {
  const box = $("material");
  box.replaceChildren();
  if (item.earlier.length) {
    block(box, "Said before", ...item.earlier.flatMap((said) => [make("h3", said.role), make("pre", said.text, { class: "said" })]));
  }
  block(box, "Request", make("pre", item.query, { class: "said query", dir: "auto" }));
  box.append(make("p", item.facts.map(([name, value]) => `${name}: ${value}`).join(" · ")));
  block(box, "Gold", make("p", item.gold.says), ...calls(item.gold.calls));
  if (item.predicted) {
    block(box, "The model's answer", make("p", item.predicted.says), ...calls(item.predicted.calls));
    if (item.predicted.text !== null) box.append(make("h3", "text"), make("pre", item.predicted.text, { class: "said", dir: "auto" }));
  }
  for (const said of item.reviews) {
    const answers = Object.entries(said.answers).map(([name, value]) => `${name}: ${value}`).join(" · ");
    block(box, `Reviewer ${said.reviewer}`, make("p", answers || "no answer"));
    if (said.note) box.append(make("pre", said.note, { class: "said", dir: "auto" }));
    if (said.correction) box.append(make("pre", said.correction));
  }
  const used = new Set([...item.gold.calls, ...(item.predicted ? item.predicted.calls : [])].map((call) => call.name));
  block(box, `Offered tools (${item.tools.length})`);
  for (const tool of item.tools) {
    const details = folded(tool.name, make("pre", tool.about, { class: "said" }), make("pre", tool.parameters));
    details.open = used.has(tool.name) || item.tools.length === 1;
    box.append(details);
  }
  if (item.system) box.append(folded("System text", make("pre", item.system, { class: "said" })));
}

function ask_questions(item) {
  const keys = state.design === "judge" ? ["1", "2", "3", "4"] : ["y", "n"];
  $("asked").replaceChildren(
    ...item.questions.map((question, place) => {
      const field = make("fieldset", undefined, { "data-question": question.name });
      const choices = make("div", undefined, { class: "choices" });
      question.answers.forEach(([value, words], index) => {
        const button = make("button", `${words} `, { type: "button", "data-answer": value });
        button.append(make("kbd", keys[index]));
        button.addEventListener("click", () => { state.current = place; answer(value, false); });
        choices.append(button);
      });
      field.append(make("legend", question.name), make("p", question.asks), choices);
      return field;
    }),
  );
}

function mark() {
  [...$("asked").children].forEach((field, place) => {
    const given = state.mine.answers[field.dataset.question];
    field.toggleAttribute("data-current", place === state.current);
    for (const button of field.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.answer === given));
  });
}

function fill() {
  $("note").value = state.mine.note;
  $("correction").value = state.mine.correction;
  $("corrected").open ||= Boolean(state.mine.correction);
  const note = state.mine.note; // a field has line breaks of one kind
  for (const said of [state.mine, state.before]) if (said.note === note) said.note = $("note").value;
}

async function open(at, { back = false } = {}) {
  if (!state.order.length) {
    $("title").textContent = "There is nothing to review here.";
    return;
  }
  leave_text();
  const turn = ++opening;
  state.turning = true; // until the item is there, a key would answer the one that is left
  state.at = Math.min(Math.max(at, 0), state.order.length - 1);
  const id = state.order[state.at];
  let item;
  try {
    item = await ask(`items/${id}`);
  } catch (error) {
    alarm("loading", error.told ? error.message : "The server does not answer. Trying again.");
    setTimeout(() => { if (turn === opening) void open(at, { back }); }, RETRY_MS);
    return;
  }
  if (turn !== opening) return; // a later item was asked for meanwhile
  alarm("loading", "");
  leave_text();
  state.item = item;
  state.turning = false;
  const left = waiting.get(id);
  state.mine = structuredClone(left ? left.said : item.mine);
  state.before = structuredClone(left ? left.before : item.mine);
  state.current = Math.max(item.questions.findIndex((question) => !state.mine.answers[question.name]), 0);
  show(item);
  ask_questions(item);
  mark();
  $("corrected").open = false;
  fill();
  $("fault").textContent = "";
  if (!back && history.state?.at !== state.at) history[history.state ? "pushState" : "replaceState"]({ at: state.at }, "");
  $("title").textContent = `Item ${state.at + 1} of ${state.order.length}`;
  document.body.dataset.item = id;
  $("title").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function first_open(from = 0) {
  const count = state.order.length;
  for (let step = 0; step < count; step++) {
    const at = (from + step) % count;
    if (!answered(state.order[at])) return at;
  }
  return -1;
}

function answered(id) {
  if (state.item && state.item.id === id) return whole();
  return waiting.has(id) ? waiting.get(id).whole : state.done.has(id);
}

function go_open() {
  const at = first_open(state.at + 1);
  if (at >= 0) void open(at);
  else $("title").textContent = `All ${state.order.length} items are answered. You may close this page once it says saved.`;
}

// --------------------------------------------------------------------------------------------------------- answering

function answer(value, by_key) {
  const question = state.item.questions[state.current];
  if (!question || state.turning) return;
  state.mine.answers[question.name] = value;
  keep();
  const left = state.item.questions.findIndex((each) => !state.mine.answers[each.name]);
  if (left >= 0) state.current = left;
  mark();
  const agreed = state.design === "judge" || Object.values(state.mine.answers).every((given) => given === "yes");
  if (by_key && left < 0 && agreed) go_open(); // a `no` stays, for a note or a correction
}

function clear() {
  const question = state.item.questions[state.current];
  if (!question || state.turning || !state.mine.answers[question.name]) return;
  delete state.mine.answers[question.name];
  keep();
  mark();
}

function typed() {
  clearTimeout(typing);
  typing = setTimeout(leave_text, TYPING_MS);
}

function leave_text() {
  clearTimeout(typing);
  if (!state.item) return;
  if (!typed_more()) return;
  Object.assign(state.mine, { note: $("note").value, correction: $("correction").value });
  keep();
}

for (const id of ["note", "correction"]) {
  $(id).addEventListener("input", typed);
  $(id).addEventListener("blur", leave_text);
}
$("from-gold").addEventListener("click", () => {
  if (!state.item || state.turning) return;
  $("correction").value = state.item.gold.json;
  $("correction").focus();
  leave_text();
});

// -------------------------------------------------------------------------------------------------------------- keys

const KEYS = {
  ArrowLeft: ["previous item", () => void open(state.at - 1)],
  ArrowRight: ["next item", () => void open(state.at + 1)],
  ArrowUp: ["previous question", () => { state.current = Math.max(state.current - 1, 0); mark(); }],
  ArrowDown: ["next question", () => { state.current = Math.min(state.current + 1, state.item.questions.length - 1); mark(); }],
  Enter: ["next unanswered item", go_open],
  Backspace: ["take the answer back", clear],
  c: ["write corrected gold", () => { $("corrected").open = true; $("correction").focus(); }],
  "?": ["these keys", () => $("help").showModal()],
};

function keys_of(design) {
  const note = ["write a note", () => $("note").focus()];
  const own = design === "judge"
    ? { 1: ["correct", () => answer("correct", true)], 2: ["missed call", () => answer("missed", true)],
        3: ["spurious call", () => answer("spurious", true)], 4: ["parameter error", () => answer("parameter", true)], n: note }
    : { y: ["yes", () => answer("yes", true)], n: ["no", () => answer("no", true)] };
  return { ...own, t: note, ...KEYS };
}

let keys = {};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || $("help").open || !state.item) return;
  const target = event.target;
  if (target instanceof HTMLTextAreaElement) {
    if (event.key === "Escape") { target.blur(); $("title").focus(); }
    return;
  }
  const own = target.closest("button, a, summary");
  if (own && (event.key === "Enter" || event.key === " ")) return;
  const found = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!found) return;
  event.preventDefault();
  if (state.turning && !event.key.startsWith("Arrow")) return;
  if (event.repeat && !event.key.startsWith("Arrow")) return; // a key held down is one answer
  found[1]();
});

$("previous").addEventListener("click", () => void open(state.at - 1));
$("next").addEventListener("click", () => void open(state.at + 1));
$("open").addEventListener("click", go_open);
$("help-button").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());
window.addEventListener("popstate", (event) => {
  if (event.state) void open(event.state.at, { back: true });
});
document.addEventListener("visibilitychange", () => void look_again());

// The reviewer comes back to this page: perhaps from another one, where they went on.
async function look_again() {
  if (document.hidden || !state.item || state.turning || waiting.size) return;
  const [item, before] = [state.item, structuredClone(state.mine)];
  try {
    const [told, found] = await Promise.all([ask("state"), ask(`items/${item.id}`)]);
    if (waiting.size || state.item !== item) return;
    state.done = new Set(told.done);
    progress();
    take_over(before, found.mine);
  } catch { /* the next answer will say what is wrong */ }
}

window.addEventListener("beforeunload", (event) => {
  leave_text();
  if (waiting.size) event.preventDefault();
});

async function start() {
  let told;
  try {
    told = await ask("state");
  } catch (error) {
    alarm("loading", error.told ? error.message : "The server does not answer. Trying again.");
    setTimeout(() => void start(), RETRY_MS);
    return;
  }
  alarm("loading", "");
  Object.assign(state, { order: told.order, design: told.design, done: new Set(told.done) });
  keys = keys_of(told.design);
  $("who").textContent = `${told.reviewer} · audit of ${told.design === "judge" ? "a judge" : "references"}`;
  $("note-key").textContent = told.design === "judge" ? "n" : "t";
  const names = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
  $("keys").replaceChildren(
    ...Object.entries({ ...keys, Esc: ["leave a text field"] }).flatMap(([key, [what]]) => {
      const term = make("dt");
      term.append(make("kbd", names[key] || key));
      return [term, make("dd", what)];
    }),
  );
  progress();
  await open(Math.max(first_open(), 0));
}

void start();
