// Show only the layers, models and classes of the atlas whose names contain the typed text, or the text after "?filter=" in the address.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("filter");
  const rows = [...document.querySelectorAll("#layers tbody tr, #what-the-atlas-contains tbody tr, #what-the-atlas-does-not-contain tbody tr")].map((row) => [row]);
  const models = [...document.querySelectorAll("#models .rubric")].map((title) => {
    const parts = [title];
    for (let next = title.nextElementSibling; next && !next.classList.contains("rubric"); next = next.nextElementSibling) parts.push(next);
    return parts;
  });
  const show = () => {
    const typed = box.value.trim().toLowerCase();
    for (const parts of [...rows, ...models]) {
      const name = (parts[0].querySelector("code") ?? parts[0]).textContent.toLowerCase();
      for (const part of parts) part.hidden = !name.includes(typed);
    }
  };
  box.addEventListener("input", show);
  box.value = new URLSearchParams(location.search).get("filter") ?? "";
  show();
});
