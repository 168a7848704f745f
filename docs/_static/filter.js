// Show only the layers and models whose name has what was typed.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("filter");
  const entries = [...document.querySelectorAll("#layers tbody tr, #models section")];
  const nameOf = (entry) => (entry.querySelector("td code, h3") ?? entry).textContent.toLowerCase();
  box.addEventListener("input", () => {
    const typed = box.value.trim().toLowerCase();
    for (const entry of entries) entry.hidden = !nameOf(entry).includes(typed);
  });
});
