// Comfort only: a filter above each heat map. The page is complete without it.
"use strict";
for (const table of document.querySelectorAll("table[data-filter]")) {
  const rows = [...table.querySelectorAll("tbody tr:not(.band)")];
  if (rows.length < 8) continue;
  const bar = document.createElement("div");
  bar.className = "filter";
  const text = document.createElement("input");
  text.type = "search";
  text.placeholder = "filter cases";
  text.setAttribute("aria-label", "Filter cases by name");
  const pick = document.createElement("select");
  pick.setAttribute("aria-label", "Which cases to show");
  for (const [value, label] of [["all", "all cases"], ["bad", "cases with a failure"], ["differ", "cases where models differ"]]) {
    pick.add(new Option(label, value));
  }
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  bar.append(text, pick, said);
  table.parentElement.before(bar);
  const apply = () => {
    let shown = 0;
    for (const row of rows) {
      const tones = [...row.querySelectorAll("td")].map((cell) => cell.className);
      const words = row.querySelector("th").textContent.toLowerCase();
      const kind = pick.value === "all" || (pick.value === "bad" ? tones.some((t) => t !== "t-pass") : new Set(tones).size > 1);
      row.hidden = !(kind && words.includes(text.value.toLowerCase()));
      shown += row.hidden ? 0 : 1;
    }
    for (const band of table.querySelectorAll("tbody")) {
      band.querySelector(".band").hidden = ![...band.querySelectorAll("tr:not(.band)")].some((row) => !row.hidden);
    }
    said.textContent = shown === rows.length ? "" : `${shown} of ${rows.length}`;
  };
  text.addEventListener("input", apply);
  pick.addEventListener("change", apply);
}
