// Brings an element up to date with another, changing only what differs: scroll, focus, what is typed and what is open stay.
import { Idiomorph } from 'idiomorph';

const isIsland = (node) => node.localName === 'leptos-island';
const islandsIn = (node) => (node.querySelectorAll ? [...(isIsland(node) ? [node] : []), ...node.querySelectorAll('leptos-island')] : []);

// Whether a field says other than it did when it came, or is about to: one in which somebody types, half a date.
function isEdited(field) {
  if (field.validity?.badInput || (field === document.activeElement && field.localName !== 'button')) return true;
  switch (field.type) {
    case 'checkbox':
    case 'radio':
      return field.checked !== field.defaultChecked;
    case 'select-one': {
      const [first = field.options[0]] = [...field.options].filter((option) => option.defaultSelected);
      return field.options[field.selectedIndex] !== first;
    }
    default:
      return 'defaultValue' in field && field.value !== field.defaultValue;
  }
}

export function morph(from, to) {
  Idiomorph.morph(from, to, {
    morphStyle: 'outerHTML',
    callbacks: {
      beforeNodeMorphed(old, next) {
        if (old.localName === 'dialog' && old.open) return false;
        // A form that is being filled in waits for whoever does.
        if (old.localName === 'form' && [...old.elements].some(isEdited)) return false;
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
