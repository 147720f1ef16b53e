// How old prices are on the day that the page is read: the page itself is the same on every day.

/** Days in words. */
function age(days) {
  if (days < 60) return `${days} day${days === 1 ? "" : "s"}`;
  return days < 730 ? `${Math.round(days / 30.44)} months` : `${Math.round(days / 365.25)} years`;
}

for (const time of document.querySelectorAll("time.age")) {
  const days = Math.floor((Date.now() - Date.parse(time.dateTime)) / 86_400_000);
  if (days > 0) time.after(` (${time.classList.contains("oldest") ? "up to " : ""}${age(days)} old)`);
}
