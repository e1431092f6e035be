// Runs brought back, one or many, or stopped.

import { all, here, post } from './api.js';
import { h, replace } from './dom.js';
import { ask, busy, say } from './notice.js';
import { labelled, many, select, words } from './parts.js';

const ENDED_BADLY = ['FAILED', 'DEAD_LETTER'];
const UNDER_WAY = ['PENDING', 'RUNNING'];
const LOOK_MS = 2000;
// Of the 10,000 that the engine takes at once.
const FOLLOWED_MOST = 2000;

// True if the run is on its way.
export async function retry(run, path, actions, latest) {
	const from = select(points(run, actions));
	const version = select([['original', `The one it began with (${run.version})`],
		...latest !== run.version ? [['latest', `The present one (${latest})`]] : []]);
	const body = h('div.stack', labelled('Begin', from), labelled('Version', version), h('p.hint',
		'Finished steps before that point do not run again. The present version begins at the start '
		+ 'unless its actions before that point are the same.'));
	if (!await ask({ title: 'Retry this run', body, confirm: 'Retry' })) return false;
	await post(`${path}/retry`, { from: JSON.parse(from.value), version: version.value });
	say('The run is on its way again.');
	return true;
}

export async function cancel(run, path) {
	const body = run.status === 'RUNNING'
		? 'It stops before its next step. A step that is under way is finished first.'
		: 'It ends at once as failed, with the code CANCELLED. It can be retried later.';
	const isSure = await ask({ title: 'Cancel this run?', body, confirm: 'Cancel the run',
		cancel: 'Let it go on', danger: true });
	if (!isSure) return false;
	await post(`${path}/cancel`);
	say('The run was told to stop.');
	return true;
}

// Up to the failed step: the first action without a SUCCEEDED one.
function points({ steps }, actions) {
	const isDone = (index) => steps.some((step) => step.index === index && step.status === 'SUCCEEDED');
	const failed = actions.findIndex((_, index) => !isDone(index));
	const titles = actions.slice(0, failed + 1).map(({ type }, index) => `step ${index + 1}, ${words(type)}`);
	return [['"failed"', `From the failed ${titles.at(-1) ?? 'step'}`],
		['"start"', 'From the start: every step runs again'],
		...titles.map((title, index) => [index, `From ${title}`])];
}

// Counts, asks, brings back what `filter` means and shows in `host` how far it is.
// `runs`: just these, one by one, since the API has no filter for what they share.
export const redriveFrom = (button, { filter, runs, host, signal, done }) => busy(button, async () => {
	const asked = JSON.parse(JSON.stringify(filter, (_, value) => value || undefined));
	const redrive = (dryRun) => post(here('/runs/redrive'), { ...asked, dryRun }, { signal });
	const count = runs?.length ?? (await redrive(true)).count;
	if (!count) return say('No failed run matches: there is nothing to bring back.', 'info');
	if (!await agreed(many(count, 'run'), !runs)) return null;
	const before = runs ? endsOf(runs) : await ends(asked, ENDED_BADLY, signal);
	const meter = meterIn(host, before.size);
	const sent = runs ? await oneByOne(runs, meter, signal) : (await redrive(false)).count;
	return follow({ ...asked, status: undefined }, before, sent, meter, signal).then(done);
});

const agreed = (runs, isPaced) => ask({ title: `Retry ${runs}?`, confirm: `Retry ${runs}`,
	body: 'Each goes on at its failed step, with the version it began with: what is done already is not done '
		+ 'again. ' + (isPaced ? 'They begin within a minute, the oldest first, fifty a second.'
			: 'The oldest begin first.') });

async function oneByOne(runs, meter, signal) {
	let sent = 0;
	for (const run of [...runs].reverse()) {
		try {
			await post(`/automations/${run.automationId}/runs/${run.id}/retry`, {}, { signal });
			sent += 1;
		} catch (error) {
			// somebody was first, or the automation is archived by now
			if (error.status !== 409) throw error;
		}
		meter(`${sent} of ${runs.length} sent`, 0);
	}
	return sent;
}

async function follow(filter, before, sent, meter, signal) {
	const total = before.size;
	for (let left = total; left > 0;) {
		left = [...(await ends(filter, UNDER_WAY, signal)).keys()].filter((id) => before.has(id)).length;
		meter(`${total - left} of ${total} have ended`, total - left);
		if (left) await new Promise((resolve) => { setTimeout(resolve, LOOK_MS); });
	}
	const after = await ends(filter, ENDED_BADLY, signal);
	const again = [...after].filter(([id, end]) => before.has(id) && before.get(id) !== end).length;
	meter(`${many(sent, 'run')} retried, ${again} of them failed again.`
		+ (sent > total ? ` Only ${total} were followed; the others go on.` : ''), total);
}

// When each matching run ended, by its id.
async function ends(filter, statuses, signal) {
	const lists = await Promise.all(statuses.filter((one) => (filter.status ?? one) === one)
		.map((status) => all(here('/runs'), { ...filter, status }, signal, FOLLOWED_MOST)));
	return endsOf(lists.flat());
}

const endsOf = (runs) => new Map(runs.map(({ id, finishedAt }) => [id, finishedAt]));

function meterIn(host, max) {
	const said = h('p', { role: 'status' }, 'On their way …');
	const bar = h('progress', { label: 'Runs that have ended', max, value: 0 });
	replace(host, h('div.card.meter', said, bar));
	return (text, ended) => {
		said.textContent = text;
		bar.value = ended;
	};
}
