// Brings an element up to date with another, changing only what differs: scroll, focus, what is typed and what is open stay.
import { Idiomorph } from 'idiomorph';

const isIsland = (node) => node.localName === 'leptos-island';
const islandsIn = (node) => (node.querySelectorAll ? [...(isIsland(node) ? [node] : []), ...node.querySelectorAll('leptos-island')] : []);

// Forms in which somebody has begun to choose or to type.
const touched = new WeakSet();
document.addEventListener('input', ({ target }) => { if (target.form) touched.add(target.form); });

export function morph(from, to) {
  Idiomorph.morph(from, to, {
    morphStyle: 'outerHTML',
    ignoreActiveValue: true,
    callbacks: {
      beforeNodeMorphed(old, next) {
        if (old.localName === 'dialog' && old.open) return false;
        if (touched.has(old)) return false;
        if (!isIsland(old)) return true;
        // What is inside is the island's own business.
        const props = next.dataset?.props;
        if (props !== undefined && props !== old.dataset.props) {
          old.dataset.props = props;
          old.dispatchEvent(new Event('toll:props'));
        }
        return false;
      },
      beforeAttributeUpdated: (name, node) => !(name === 'open' && node.localName === 'details'),
      afterNodeAdded: (node) => islandsIn(node).forEach((island) => globalThis.tollWake?.(island)),
      beforeNodeRemoved: (node) => islandsIn(node).forEach((island) => island.dispatchEvent(new Event('toll:gone'))),
    },
  });
}
