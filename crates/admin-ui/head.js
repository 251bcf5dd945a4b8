// Runs before the first paint: a chosen theme and language must not flash. The console itself changes them later.
(() => {
  const root = document.documentElement;
  const stored = (name, allowed) => {
    try {
      const value = localStorage.getItem(name);
      return allowed.includes(value) ? value : null;
    } catch {
      return null; // storage may be forbidden; then the system decides
    }
  };
  const theme = stored("tollgate.theme", ["light", "dark"]);
  if (theme) root.dataset.theme = theme;
  root.lang = stored("tollgate.language", ["en", "zh"]) ?? (navigator.language.startsWith("zh") ? "zh" : "en");
})();
