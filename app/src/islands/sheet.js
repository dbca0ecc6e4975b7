// The dialog of islands/sheet.rs: what is in it is the `.sheet` of an ordinary page.
export function follow(dialog) {
  const inside = dialog.querySelector('.inside');
  const ask = dialog.querySelector('.ask');
  const sheetOf = (html) => new DOMParser().parseFromString(html, 'text/html').querySelector('.sheet');
  let opener = null;
  let changed = false;

  const show = (sheet) => {
    inside.replaceChildren(document.importNode(sheet, true));
    inside.querySelectorAll('leptos-island').forEach((island) => globalThis.tollWake?.(island));
    ask.hidden = true;
    if (!dialog.open) dialog.showModal();
    // Islands show their buttons a moment after they wake up.
    requestAnimationFrame(() => requestAnimationFrame(() => inside.querySelector('[autofocus]')?.focus()));
  };

  // Fetches a page into the dialog. One without a sheet is where the form leads to: the work is done.
  const load = async (url, options) => {
    const response = await fetch(url, { headers: { accept: 'text/html' }, ...options });
    const sheet = sheetOf(await response.text());
    if (sheet) return show(sheet);
    if (new URL(response.url).pathname === location.pathname) return dialog.close();
    location.href = response.url;
  };

  const close = () => {
    if (!inside.querySelector('[data-secret]')) return dialog.close();
    ask.hidden = false;
    ask.querySelector('[data-stay]').focus();
  };

  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[data-sheet]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    opener = link;
    // Without an answer the link does what links do.
    load(link.href).catch(() => { location.href = link.href; });
  });

  dialog.addEventListener('submit', (event) => {
    event.preventDefault();
    const form = event.target;
    if (form.method === 'dialog') return close();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    event.submitter?.setAttribute('aria-busy', 'true');
    changed = true;
    load(form.action, { method: 'POST', body }).catch(() => {
      form.querySelector('.problem').textContent = 'Toll cannot be reached. Try again in a moment.';
    }).finally(() => event.submitter?.removeAttribute('aria-busy'));
  });

  dialog.addEventListener('click', (event) => {
    if (event.target.closest('[data-stay]')) {
      ask.hidden = true;
      inside.querySelector('[autofocus]')?.focus();
    } else if (event.target.closest('[data-leave]')) {
      dialog.close();
    } else if (event.target.closest('a[data-close]')) {
      event.preventDefault();
      close();
    }
  });
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    close();
  });
  dialog.addEventListener('close', () => {
    inside.replaceChildren();
    opener?.focus();
    // The page behind shows what has changed, without waiting for its next look.
    if (changed) window.dispatchEvent(new Event('focus'));
    changed = false;
  });
}
