// Puts text into the clipboard, and says whether it is there. Over plain http to another host browsers have no
// `navigator.clipboard`; selecting the text and copying the selection works there still.
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const before = document.activeElement;
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'visually-hidden';
    // Outside of an open dialog nothing can be selected.
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    before?.focus();
    return done;
  }
}
