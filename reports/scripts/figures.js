// Charts: each may be saved as SVG and PNG, in the colours that it is shown in. On a phone the first of charts and studies are seen.

/** The drawing as a file of its own: with the colours of the page in the place of its variables. */
function standing(svg) {
  const style = getComputedStyle(document.documentElement), copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\((--[a-z-]+)\)/g, (_, name) => style.getPropertyValue(name).trim() || "currentColor");
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Twice the size that it is shown in, on the paper of the page. */
function savePng(svg, name) {
  const image = new Image(), box = svg.getBoundingClientRect(), canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * box.width, 2 * box.height];
  image.onload = () => {
    const brush = canvas.getContext("2d");
    brush.fillStyle = getComputedStyle(document.body).backgroundColor;
    brush.fillRect(0, 0, canvas.width, canvas.height);
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standing(svg))}`;
}

for (const figure of document.querySelectorAll("figure")) {
  const svg = figure.querySelector("svg"), title = figure.querySelector("h3")?.textContent ?? "chart";
  if (!svg) continue;
  const bar = document.createElement("div");
  bar.className = "tools";
  for (const [kind, act] of [["SVG", () => save(new Blob([standing(svg)], {type: "image/svg+xml"}), `${figure.id}.svg`)],
    ["PNG", () => savePng(svg, `${figure.id}.png`)]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind;
    button.setAttribute("aria-label", `Save as ${kind}: ${title}`);
    button.addEventListener("click", act);
    bar.append(button);
  }
  figure.append(bar);
}

for (const [kind, what, most] of [[".charts", "charts", 1], [".cards", "studies", 3]]) {
  for (const all of document.querySelectorAll(kind)) {
    const count = all.children.length;
    if (count > most) onPhone(() => fold(all, `All ${count} ${what}`));
  }
}
