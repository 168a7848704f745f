// Show only the layers, models, classes of the atlas, modules of timm and networks of diffusers whose names contain the typed text, or the
// text after "?filter=" in the address.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("filter");
  const tables = ["#layers", "#what-the-atlas-contains", "#what-the-atlas-does-not-contain", "#timm-s-architectures", "#diffusers-networks"];
  const rows = [...document.querySelectorAll(tables.map((id) => `${id} tbody tr`).join())].map((row) => [row]);
  const models = [...document.querySelectorAll("#models .rubric")].map((title) => {
    const parts = [title];
    for (let next = title.nextElementSibling; next && !next.classList.contains("rubric"); next = next.nextElementSibling) parts.push(next);
    return parts;
  });
  const show = () => {
    const typed = box.value.trim().toLowerCase();
    for (const parts of [...rows, ...models]) {
      const named = parts[0].closest("#timm-s-architectures") ? parts[0] : parts[0].querySelector("code") ?? parts[0];
      const name = named.textContent.toLowerCase();
      for (const part of parts) part.hidden = !name.includes(typed);
    }
  };
  box.addEventListener("input", show);
  box.value = new URLSearchParams(location.search).get("filter") ?? "";
  show();
});
