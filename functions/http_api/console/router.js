// Which view a `#/…` address shows, and what must end when one leaves it.

import { search } from './api.js';
import { button, h, replace } from './dom.js';
import { inWords } from './notice.js';

let leaving = new AbortController();
let shown = null; // the hash on screen
let guard = null;
let target;

// If it is on screen, it is shown afresh.
export function go(hash) {
	if (location.hash === hash) return show();
	location.hash = hash;
	return undefined;
}

export const link = (hash, text, props) => h('a', { href: hash, ...props }, text);

// `#/runs?status=FAILED`
export const hashOf = (path, query) => `#${path}${search(query)}`;

// Changes the address, not the view.
export function rewrite(hash) {
	history.replaceState(null, '', hash);
	shown = hash;
}

export function guardWith(asks, signal) {
	guard = asks;
	signal.addEventListener('abort', () => { guard = guard === asks ? null : guard; });
}

export const isGuarded = () => Boolean(guard);

// False: there is unsaved work, and one stays with it.
export async function mayLeave() {
	if (guard && !(await guard())) return false;
	guard = null;
	return true;
}

// `around(hash)` answers what to show for an address; `load(pattern)`, of one like "/runs/:id", its view:
// `async ({params, query, signal}) => Node`; `signal` aborts when it is left.
export function start(main, around, patterns, load) {
	const routes = patterns.map((pattern) => [pattern,
		new RegExp(`^${pattern.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`)]);
	target = { main, around, routes, load };
	window.addEventListener('hashchange', follow);
	return show();
}

async function follow() {
	const wanted = location.hash;
	if (wanted === shown) return;
	if (guard) {
		history.pushState(null, '', shown); // stay while one decides
		if (!(await mayLeave())) return;
		history.replaceState(null, '', wanted);
	}
	await show();
}

async function show() {
	leaving.abort();
	leaving = new AbortController();
	const { signal } = leaving;
	const { main, around } = target;
	rewrite(around(location.hash || '#/'));
	main.setAttribute('aria-busy', 'true');
	const node = await viewOf(shown, signal).catch(failure);
	if (signal.aborted) return;
	main.removeAttribute('aria-busy');
	replace(main, node);
	settle(main);
}

async function viewOf(hash, signal) {
	const [path, query] = hash.slice(1).split(/\?(.*)/s);
	for (const [pattern, matcher] of target.routes) {
		const found = matcher.exec(path);
		if (found) {
			const view = await target.load(pattern);
			return view({ params: { ...found.groups }, signal,
				query: Object.fromEntries(new URLSearchParams(query)) });
		}
	}
	return failure({ status: 404 });
}

// With the focus on the heading a screen reader says where one is.
function settle(main) {
	window.scrollTo(0, 0);
	const heading = main.querySelector('h1');
	document.title = `${heading.textContent} · whenthen`;
	heading.tabIndex = -1;
	(main.querySelector('[autofocus]') ?? heading).focus({ preventScroll: true });
}

function failure(error) {
	const isUnknown = error.status === 404;
	return h('section.empty',
		h('h1', isUnknown ? 'Not found' : 'This view cannot be shown'),
		h('p', isUnknown ? 'It does not exist, or this account cannot see it.' : inWords(error)),
		isUnknown ? link('#/automations', 'To the automations', { class: 'button' })
			// What is missing may be a file of a build that has gone.
			: button('Try again', () => location.reload()));
}
