// What a run did and what it waited for, read out of its log.

const ACTION = /^action (\d+)\/\d+ \w+ (started|waiting|done|failed)$/;
const END = /^run (completed|dead-lettered|failed: .*|skipped: .*)$/;

// The lives of a run, oldest first: the first one, and one from each retry by hand.
// A life: `{from, to, run, steps}`, `run` the spans of the run itself, `steps[index]` those of an action.
// A span: `{kind, from, to, due?}` in ms since 1970, `to` null while it lasts, `due` the planned end of a
// wait; kinds: queue, work, wait (for a retry), delay, ok, bad, cut (its process ended).
export function livesOf(logs) {
	const lives = [];
	let life;
	let phase; // the run's span that lasts
	let step; // the step's span that lasts
	let turned; // when the worker turned to what it does now
	let index;

	const close = (span, to, change) => span && Object.assign(span, { to }, change) && null;
	const enter = (kind, from, more) => {
		phase = close(phase, from);
		if (kind) life.run.push(phase = { kind, from, to: null, ...more });
	};
	const enterStep = (kind, from, more) => {
		(life.steps[index] ??= []).push(step = { kind, from, to: null, ...more });
	};

	for (const { message, data, createdAt } of logs) {
		const at = Date.parse(createdAt);
		const retried = message === 'run retried manually';
		if (retried || !life) lives.push(life = { from: at, to: at, run: [], steps: [] });
		// A log that is cut has no line of its beginning.
		if (retried || message === 'run created') enter('queue', at);
		life.to = Math.max(life.to, at);
		const [, number, what] = ACTION.exec(message) ?? [];
		if (number) index = number - 1;
		if (what === 'started') {
			// The line is written at the end: the attempt began when the worker turned to it.
			enterStep('work', turned ?? at, { attempt: data.attempt });
		} else if (what === 'waiting') {
			const due = Date.parse(data.resumeAt);
			life.steps[index]?.pop();
			enterStep('delay', at, { due });
			enter('delay', at, { due });
		} else if (what === 'done') {
			const { ms } = data;
			step = close(step, at, step?.kind === 'work' && { kind: 'ok', ms, from: Math.max(step.from, at - ms) });
			turned = at;
		} else if (what === 'failed') {
			step = close(step, at, { ...data, kind: 'bad' });
		} else if (message === 'run started') {
			step = close(step, at);
			enter('work', at);
			turned = at;
		} else if (message === 'retry scheduled') {
			const wait = { due: Date.parse(data.dueAt) };
			enter('wait', at, wait);
			if (index !== undefined) enterStep('wait', at, wait);
		} else if (message === 'run continued') {
			enter('queue', at);
		} else if (message.startsWith('watchdog reclaimed')) {
			step = close(step, at, { kind: 'cut' });
			enter('queue', at);
		} else if (END.test(message)) {
			step = close(step, at);
			enter(null, at);
		}
	}
	return lives;
}

// Drawn to its last line, or to what it still waits for.
export function extentOf({ from, to, run, steps }, now) {
	const dues = now ? [...run, ...steps.flat()].map((span) => (span.to === null && span.due) || now) : [];
	return { from, to: Math.max(from + 1, to, ...dues) };
}
