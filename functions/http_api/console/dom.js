// Elements from plain calls. Strings become text nodes: nothing here parses markup.

// `h('p.muted', { id, onclick: fn, label: 'its aria-label' }, 'text', node, [more])`: the props may be left
// out; false, null and undefined are no attribute and no child.
export const h = (tag, ...rest) => build((name) => document.createElement(name), tag, rest);

export const svg = (tag, ...rest) => build(
	(name) => document.createElementNS('http://www.w3.org/2000/svg', name), tag, rest);

export const button = (label, onclick, { class: looks = '', ...props } = {}) => h('button',
	{ class: `button ${looks}`, type: 'button', onclick, ...props }, label);

export const iconButton = (sign, label, onclick, props) => h('button.icon', { type: 'button',
	label, title: label, onclick, ...props }, sign);

export function replace(node, ...children) {
	node.replaceChildren(...flat(children));
	return node;
}

const flat = (children) => children.flat(Infinity)
	.filter((child) => (child ?? false) !== false && child !== true)
	.map((child) => (child instanceof Node ? child : text(child)));

export const text = (value) => (Object(value) === value ? JSON.stringify(value) : String(value));

let lastId = 0;

export const freshId = (stem) => `${stem}-${lastId += 1}`;

function build(make, tag, rest) {
	const { class: more, ...props } = rest[0]?.constructor === Object ? rest.shift() : {};
	const [name, ...classes] = tag.split('.');
	const node = make(name);
	node.append(...flat(rest));
	if (more || classes.length) node.setAttribute('class', [...classes, more ?? ''].join(' ').trim());
	for (const [key, value] of Object.entries(props)) {
		if (typeof value === 'function') node.addEventListener(key.slice(2), value);
		// An attribute would only be what a control begins with.
		else if (['value', 'checked', 'selected'].includes(key) && key in node) node[key] = value ?? '';
		else if ((value ?? false) !== false) {
			node.setAttribute(key === 'label' ? 'aria-label' : key, value === true ? '' : value);
		}
	}
	return node;
}
