import type { StreamStore } from '../../src/store/store.ts'
import { newWorld } from '../unit/commands/support.ts'
import { both, type Case, EVERYTHING, line, TWO } from './json-case.ts'
import * as stores from './json-stores.ts'
import * as given from './json-world.ts'

const LISTS: readonly Case[] = [
  ...both('ls', 'ls-item', 'ls'),
  line('ls', 'ls -o yaml'),
  line('ls', 'ls -o json --limit 2'),
  line('ls', 'ls -o json --sort due --limit 1'),
  ...both('ls', 'ls-item', 'ls --match nothing/**'),
  ...both('ls', 'ls-item', 'ls', {
    store: store => stores.strangersLease(store, { state: 'breaking', untilMs: 1e12 }),
  }),
  ...both('ls-fields', 'ls-fields-item', 'ls --fields name,status,waitingOn,lease,error'),
  line('ls-fields', 'ls --fields failure -o yaml'),
  ...both('ls', 'ls-item', 'ls -c eu,us'),
  line('ls', 'ls -c eu,us -o yaml'),
  ...both('ls-fields', 'ls-fields-item', 'ls -c eu,us --fields name'),
  ...both('groups', 'groups-item', 'ls -c eu,us --group-by failure'),
  ...both('ls', 'ls-item', 'ls -c eu,us', {
    setting: { others: { us: stores.away(newWorld().store) } },
    exit: 7,
    errors: 2,
  }),
  ...['status', 'failure', 'waiting-on', 'root', 'topic', 'owner'].flatMap(by =>
    both('groups', 'groups-item', `ls --group-by ${by}`),
  ),
  line('groups', 'ls --group-by waiting-on -o yaml'),
  ...both('groups', 'groups-item', 'ls --group-by failure --match nothing'),
  ...both('events', 'events-item', 'events'),
  ...both('events', 'events-item', 'events --due --sort wake --limit 1'),
  ...both('events', 'events-item', 'events --state overdue,abandoned,failed'),
  ...both('events', 'events-item', 'events --match nothing'),
  ...both(
    'events',
    'events-item',
    'events --waiting-for timer --waiting-for after --waiting-for signal --waiting-for branches',
  ),
  ...both('groups', 'groups-item', 'ls --group-by state'),
  ...both('workers', 'workers-line', 'workers --events'),
  ...both('workers', 'workers-line', 'workers --match nothing'),
  ...both('leases', 'leases-item', 'lease ls'),
  ...both('leases', 'leases-item', 'lease ls --stale 1s'),
  ...both('leases', 'leases-item', 'lease ls --match nothing'),
  ...both('leases', 'leases-item', 'lease ls', {
    store: store => stores.strangersLease(store, { state: 'leased', duration: 'infinite' }),
  }),
]

const STREAMS: readonly Case[] = [
  ...['open', 'failed', 'done', 'held', 'foreign', 'odd', 'empty'].map(name => line('show', `show ${name} -o json`)),
  line('show', 'show open -o yaml'),
  line('show', 'show open --at 1 -o json'),
  line(undefined, 'show odd --at 1 -o json', { exit: 3 }),
  line('show', 'show failed -o json', { before: ['ack failed -m known'] }),
  line('show', 'show a -o json', { ...TWO, before: ['event complete a 01.00 --result found'] }),
  line('event-data', 'event data open 01.00 -o json'),
  line('event-data', 'event data d 01 -o json', {
    ...TWO,
    before: ['init d --fork X --join J --data in', 'event complete d 01.00 --result found'],
  }),
  line('event-content', 'event data a 01.00 --result -o json', {
    ...TWO,
    before: ['event complete a 01.00 --result found'],
  }),
  line('event-content', 'show a --data 01.00 -o json', { ...TWO, before: ['event complete a 01.00 --result found'] }),
  line(undefined, 'event data open 00 --input -o json', { exit: 3 }),
  line('show', 'show open -o json', { before: ['suspend open -m known'] }),
  line('show', 'show open -o json', { before: ['signal open paid --data 12'] }),
  ...both('log', 'transaction', 'log open', { before: ['signal open paid'] }),
  ...both('ls', 'ls-item', 'ls --suspended', { before: ['suspend open -m known'] }),
  line('show-list', 'show open failed -o json'),
  line('show-list', 'show open bad -o json', { exit: 12 }),
  line(undefined, 'show bad -o json', { exit: 12 }),
  line('diff', 'show failed --diff 1 -o json'),
  line('diff', 'show foreign --diff 1 -o json'),
  line('diff', 'show open --diff 1 --at 2 -o yaml'),
  line('diff-list', 'show open failed --diff 1 -o json'),
  line('selected', ['show', 'open', '--select', "./Event[@status='init']", '-o', 'json']),
  line('selected', ['show', 'open', '--select', "./Event[@status='none']", '-o', 'json']),
  line('selected', ['show', 'open', '--select', 'count(./Event)', '-o', 'json']),
  line('selected', ['show', 'open', '--at', '1', '--select', 'string(./Event[1]/@name)', '-o', 'yaml']),
  line('selected-list', ['show', 'open', 'odd', '--select', './Event', '-o', 'json']),
  line('selected', ['show', 'open', '--select', "//Event[@status='x']", '--must', '-o', 'json'], { exit: 3 }),
  line('export', 'export open -o json'),
  line('export', 'export foreign -o json'),
  line('export', 'export odd -o json'),
  line(undefined, 'export bad -o json', { exit: 12 }),
]

const AUDITED = {
  ...TWO,
  before: ['rm b --yes --force -m why', 'export --all --to FOLDER', 'import FOLDER --prefix x'],
}

const HISTORY: readonly Case[] = [
  ...['open', 'failed', 'foreign', 'odd'].map(name => line('transaction', `tail ${name} -n all -o ndjson`)),
  line('transaction', 'tail --all -n all -o ndjson', { exit: 7, errors: 2 }),
  ...both('log', 'transaction', 'log failed foreign'),
  ...both('log', 'transaction', 'log --all', { exit: 7, errors: 2 }),
  ...both('audit', 'audit-item', 'log --audit', AUDITED),
  line('audit', 'log --audit -n 1 -o json', AUDITED),
  line('audit', 'log --audit -o json', TWO),
  line('log', 'log failed -n 1 -o json'),
  line('log', 'log failed --op cancel -o json'),
  ...both('wait', 'wait-item', 'wait done'),
  ...both('wait', 'wait-item', 'wait done --for canceled', { exit: 8 }),
  ...both('wait', 'wait-item', 'wait open done --within 1ms', { exit: 124 }),
  ...both('wait', 'wait-item', 'wait open --for event=01.00:completed --within 1ms', { exit: 124 }),
  ...both('wait', 'wait-item', 'wait open --for event=09.00:completed --within 1ms', { exit: 124 }),
  ...both('wait', 'wait-item', 'wait open --interval 1ms', { ...EVERYTHING, store: stores.vanishing, exit: 8 }),
  ...both('wait', 'wait-item', 'wait nix bad --may-appear --within 1ms', { exit: 124, errors: 2 }),
  line(undefined, 'wait nix -o json', { exit: 3 }),
]

const LEFT = (store: StreamStore) => stores.strangersLease(store, { state: 'leased', duration: 'infinite' })

const MONITORING: readonly Case[] = [
  ...both('stats', 'stats-item', 'stats s', { world: given.worked }),
  ...both('stats', 'stats-item', 'stats --all --sort failures', { exit: 7, errors: 2 }),
  ...both('stats', 'stats-item', 'stats --all --since 1h --group-by topic --limit 1', { exit: 7, errors: 2 }),
  line(undefined, 'stats nix -o json', { exit: 3 }),
  line('check', 'check -o json', { world: given.overdue, store: stores.unsummarized, exit: 1, errors: 0 }),
  line('check', 'check --match nothing -o json'),
  line('check-list', 'check -c eu,us -o json', { world: given.overdue, exit: 1, errors: 0 }),
  line('check-list', 'check -c eu,us -o json', {
    setting: { others: { us: stores.away(newWorld().store) } },
    exit: 3,
    errors: 0,
  }),
  line('check', 'check --crit-stuck 2 -o json', { store: LEFT, exit: 2, errors: 0 }),
  line('check', 'check --nix -o json', { exit: 3, errors: 0 }),
  line('check', 'check -o json', { store: stores.away, exit: 3, errors: 0 }),
  line('check', 'check -o json', { world: given.watched, exit: 1, errors: 0 }),
]

const DEV = 'context add dev --store azurite:dev'

const PLACES: readonly Case[] = [
  line('help', 'help -o json'),
  line('help', 'help lease break -o json'),
  line(undefined, 'help nix -o json', { exit: 2 }),
  ...both('doctor', 'doctor-line', 'doctor'),
  ...both('doctor', 'doctor-line', 'doctor --read-only'),
  ...both('doctor', 'doctor-line', 'doctor --all', { exit: 7 }),
  ...both('doctor', 'doctor-line', 'doctor bad', { exit: 12 }),
  ...both('doctor', 'doctor-line', 'doctor nix', { exit: 3 }),
  ...both('doctor', 'doctor-line', 'doctor', { store: stores.away, exit: 9 }),
  ...both('doctor', 'doctor-line', 'doctor', { store: stores.readOnly, exit: 4 }),
  line('doctor', 'doctor --deep -o json', { store: store => stores.elsewhere(store, stores.SQLITE), exit: 12 }),
  ...[stores.AZURE, stores.AZURE_KEY, stores.AZURE_ENTRA].map(facts =>
    line('doctor-line', 'doctor -o ndjson', { store: store => stores.elsewhere(store, facts) }),
  ),
  line('watchdog-status', 'watchdog status -o json', { world: given.watched }),
  line('watchdog-status', 'watchdog status -o json'),
  line(undefined, 'watchdog status -o json', { store: stores.away, exit: 9 }),
  line('context', 'context -o json'),
  line('context', 'context -o json', { before: [`${DEV} --use`] }),
  line('context', 'context - -o json', { before: [`${DEV} --use`, 'context add old --store azurite:old --use'] }),
  line('context', `${DEV} --protected -o json`),
  line('context', `${DEV} -o json`, { before: [DEV] }),
  line('context', `${DEV} --replace -o json`, { before: ['context add dev --store azurite:old'] }),
  line('context', 'context set dev --read-only -o json', { before: [DEV] }),
  line('context', 'context use dev -o json', { before: [DEV] }),
  line('context', 'context use --none -o json', { before: [DEV] }),
  line('context', 'context remove dev -o json', { before: [`${DEV} --use`] }),
  line('context-list', 'context list -o json'),
  line('context-list', 'context list -o json', { before: [`${DEV} --use`] }),
  line(undefined, 'context use nix -o json', { exit: 2 }),
  ...both('doctor', 'doctor-line', 'context test'),
]

/** Commands that only read, and those on settings. */
export const READING: readonly Case[] = [...LISTS, ...STREAMS, ...HISTORY, ...MONITORING, ...PLACES]
