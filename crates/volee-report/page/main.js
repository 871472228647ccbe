// Puts the page together: tabs, toolbar, what is shown first.

import { byId, fill, measure, notify } from './dom.js';
import { begin, data, goTo, isLive, listen, showRun, store, tell, walk } from './store.js';
import { Run } from './run.js';
import { startNoise } from './noise.js';
import { startSource } from './source.js';
import { startSteps } from './steps.js';
import { startState } from './state.js';
import { chartView, startChart } from './chart.js';
import { historyView, startHistory } from './history.js';
import { graphView, startGraph } from './graph.js';
import { startWatches } from './watch.js';
import { answerView, startAnswer } from './answer.js';
import { openCheck } from './check.js';
import { compareView, openRuns, startCompare } from './compare.js';
import { askStep, askUntil, changeTheme, openHelp, startKeys } from './keys.js';

const views = { answer: answerView(), chart: chartView(), history: historyView(), graph: graphView(), compare: compareView() };

function showTab(name) {
  for (const tab of byId('tabs').querySelectorAll('[role=tab]')) tab.setAttribute('aria-selected', String(tab.dataset.tab === name));
  byId('find').hidden = !['history', 'graph'].includes(name);
  byId('only-messages').hidden = !['chart', 'history'].includes(name);
  fill(byId('tab-body'), views[name].node);
  views[name].shown();
}

function refreshBar() {
  const run = store.run;
  byId('where').textContent = `${run.skipped + store.at} of ${run.skipped + run.length}`;
  const scrub = byId('scrub');
  scrub.max = String(run.length);
  scrub.value = String(store.at);
  for (const [id, off] of [['go-first', store.at === 0], ['go-back', store.at === 0], ['go-forward', store.at === run.length], ['go-last', store.at === run.length]]) byId(id).disabled = off;
}

function startBar() {
  const name = data.model.name.split('/').pop();
  fill(byId('model'), name);
  byId('model').title = `${data.model.name}, ${data.model.language}`;
  document.title = `${name} · volee`;
  const clicks = {
    'go-first': () => goTo(0), 'go-back': () => goTo(store.at - 1), 'go-forward': () => goTo(store.at + 1), 'go-last': () => goTo(store.run.length),
    where: askStep, random: () => walk(1), walk: () => walk(100), until: askUntil, 'open-check': openCheck, 'open-runs': openRuns, theme: changeTheme, help: openHelp,
  };
  for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener('click', act);
  byId('scrub').addEventListener('input', (event) => goTo(Number(event.target.value)));
  byId('until').hidden = isLive && !data.model.expressions;
}

function startTheme() {
  let kept = null;
  try { kept = localStorage.getItem('volee-theme'); } catch { /* a file has no storage */ }
  if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
  document.addEventListener('theme', () => tell('theme'));
}

function start() {
  startTheme();
  measure();
  document.body.classList.toggle('still', !isLive);
  const first = data.run ? new Run(data.run) : null;
  if (!first && !isLive) store.run = new Run({ initial: (data.end && data.end.variables) || [], steps: [] });
  store.run = first || store.run || new Run({ start: data.start.state, initial: data.start.variables, steps: [] });
  store.first = store.run;
  startBar();
  listen('moved', refreshBar);
  startNoise();
  startSource();
  startSteps();
  startState();
  startChart();
  startHistory();
  startGraph();
  startWatches();
  startAnswer();
  startCompare();
  startKeys();
  for (const tab of byId('tabs').querySelectorAll('[role=tab]')) tab.addEventListener('click', () => showTab(tab.dataset.tab));
  document.addEventListener('tab', (event) => showTab(event.detail));
  window.addEventListener('resize', measure);
  const plain = !(data.model.files.length && /promela/i.test(data.model.language));
  showTab(data.answer ? 'answer' : plain ? 'history' : 'chart');
  if (isLive) begin(data.start);
  if (first) showRun(first, isLive ? 0 : first.length);
  else if (!isLive) goTo(0);
  if (data.model.warnings && data.model.warnings.length) notify(data.model.warnings[0]);
  performance.mark('volee-ready');
}

start();
