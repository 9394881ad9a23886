import { inContainer } from '../unit/commands/lease/container.ts'
import { holdingTogether, inProcess, telling } from '../unit/lab/workers.ts'
import { both, type Case, CLAIMED, EVERYTHING, HELD, line, MIXED, type Rest, TWO } from './json-case.ts'
import * as stores from './json-stores.ts'
import { newerSubscription, subscribed, untilPosition } from './json-subscriptions.ts'
import * as given from './json-world.ts'

const CHANGES: readonly Case[] = [
  line('change', 'init new --fork A,B -m why -o json', TWO),
  line('change', 'init a --if-absent -o json', TWO),
  line('change', 'init a --if-absent --update --tag t -o json', TWO),
  line(undefined, 'init a -o json', { ...TWO, exit: 5 }),
  line('change', 'event start a 01.00 -o json', TWO),
  ...['start', 'complete']
    .map(verb => `event ${verb} a 01.00 --command-id c1`)
    .map(again => line('change', `${again} -o json`, { ...TWO, before: [again] })),
  line('change', 'event touch a 01.00 --owner w1 -o json', CLAIMED),
  line('change', 'event touch a 01.00 --owner w1 -o json', {
    ...CLAIMED,
    before: ['event set a 01.00 --timeout 9s --owner w1'],
  }),
  line('change', 'event release a 01.00 --owner w1 -o json', CLAIMED),
  line('change', 'event advance a 01.00 --next N -o json', TWO),
  line('change', 'event advance a 01.00 --fork X,Y --join J -o json', TWO),
  line('change', 'event advance a 01.00 --steps X,Y -o json', TWO),
  line('change', 'event advance a 01.00 --next X --auto --delay 1h -o json', TWO),
  line('change', 'init new --fork A --auto -o json', TWO),
  line('change', 'event release a 01.00 --owner w1 --delay 1h -o json', CLAIMED),
  line('change', 'event complete a 01.00 -m result -o json', TWO),
  line('change', 'event fail a 01.00 -m because -o json', TWO),
  line('change', 'event fail a 01.00 --transient -m 503 -o json', TWO),
  line('change', 'event skip x 01.00 -m why -o json', {
    before: ['init x --steps A,B --on-failure block', 'event fail x 01.00'],
  }),
  line('change', 'event set a 01.00 --tag x -o json', TWO),
  line('change', 'event complete open 02.00 -o json', {
    ...EVERYTHING,
    before: ['event complete open 01.00 --owner w7'],
  }),
  line(undefined, 'event start a 01.00 --owner w2 -o json', { ...CLAIMED, exit: 6 }),
  line(undefined, 'event complete a 01.00 --fence 1 -o json', { ...CLAIMED, exit: 11 }),
  line(undefined, 'event start a 09 -o json', { ...TWO, exit: 3 }),
  ...['cancel', 'abort'].flatMap(verb => [
    line('change', `${verb} a -m why -o json`, TWO),
    line('change', `${verb} a -e 01.00 -o ndjson`, TWO),
    line('change', `${verb} a -o json`, { ...TWO, before: [`${verb} a`] }),
  ]),
  line('change', 'ack a -m known -o json', { ...TWO, before: ['event fail a 01.00'] }),
  line(undefined, 'ack a -m known -o json', { ...TWO, exit: 5 }),
  line('change', 'suspend a -m why --stop -o json', CLAIMED),
  line('change', 'suspend a -m why -o json', { ...TWO, before: ['suspend a -m first'] }),
  line('change', 'resume a -o json', { ...TWO, before: ['suspend a -m why'] }),
  line('change', 'event complete a 01.00 -o json', { ...TWO, before: ['suspend a -m why'] }),
  line(undefined, 'resume a -o json', { ...TWO, exit: 5 }),
  line('change', 'event append session --name Move --command-id m1 --create -o json'),
  line(undefined, 'event append a --name Move --command-id m1 -o json', { ...TWO, exit: 5 }),
  line('change', 'signal a paid --data 12 -o json', TWO),
  line('change', 'signal w approve -o json', {
    before: ['init w --steps A,B', 'event advance w 01.00 --next C --wait-for approve'],
  }),
  line(undefined, 'signal a paid -o json', { ...TWO, before: ['cancel a'], exit: 5 }),
  line('change', 'retry j -o json', { world: given.joined }),
  line('change', 'retry a -e 01.00 -o json', { ...TWO, before: ['event fail a 01.00'] }),
  line('change', 'rm a --yes --force -m why -o json', TWO),
  line('change', 'rm a --yes -o ndjson', { ...TWO, exit: 5 }),
  line('change', 'cancel b --lease-wait 0s -o ndjson', { ...HELD, exit: 6 }),
]

const BATCHES: readonly Case[] = [
  ...both('batch', 'change', 'cancel a b c d --yes --lease-wait 0s', { ...MIXED, exit: 7 }),
  ...both('batch', 'change', 'abort --all --yes --lease-wait 0s -m why', { ...MIXED, exit: 7 }),
  ...both('batch', 'change', 'retry --all --yes --lease-wait 0s', { ...MIXED, exit: 7 }),
  ...both('batch', 'change', 'ack --all --yes --lease-wait 0s -m known', { ...MIXED, exit: 7 }),
  ...both('batch', 'change', 'suspend --all --yes --lease-wait 0s -m why', { ...MIXED, exit: 7 }),
  ...both('batch', 'change', 'resume a b --yes', { ...TWO, before: ['suspend a -m x', 'suspend b -m x'] }),
  ...both('batch', 'change', 'signal --all paid --yes --lease-wait 0s', { ...MIXED, exit: 7 }),
  ...both('batch', 'change', 'rm --all --yes --lease-wait 0s', { ...MIXED, exit: 7 }),
  ...both('batch', 'change', 'cancel a -e 01.00 -e 02.00 --yes', TWO),
  ...both('batch', 'change', 'cancel a b --yes', { ...TWO, store: stores.overtaken, exit: 7 }),
  ...both('batch', 'change', 'cancel a b --yes', {
    ...TWO,
    store: store => stores.answering(store, 'unknown'),
    exit: 7,
  }),
  ...both('batch', 'change', 'cancel --match nothing/** --yes', TWO),
  ...['cancel', 'abort', 'retry', 'ack -m known', 'suspend -m why', 'resume', 'signal', 'rm'].flatMap(verb =>
    both('preview', 'preview-item', `${verb} --all --dry-run${verb === 'signal' ? ' paid' : ''}`),
  ),
  ...both('preview', 'preview-item', 'cancel open odd -e 01.00 --dry-run'),
  ...both('preview', 'preview-item', 'cancel --match nothing --dry-run'),
  line(undefined, 'cancel a nix --yes -o json', { ...TWO, exit: 3 }),
  line(undefined, 'cancel --all -o json', { ...TWO, exit: 2 }),
  line(undefined, 'cancel --all --yes --expect 3 -o json', { ...TWO, exit: 5 }),
]

const CANCELED: Rest = { ...TWO, before: ['cancel a b --yes'] }

const RUNS: readonly Case[] = [
  ...both('runs', 'runs-item', 'runs ls', CANCELED),
  line('runs', 'runs ls --limit 1 -o json', CANCELED),
  line('run', 'runs show last -o json', CANCELED),
  line(undefined, 'runs show nix -o json', { exit: 2 }),
  line('runs-prune', 'runs prune --older-than 30d --dry-run -o json'),
  line('runs-prune', 'runs prune --older-than 30d -o json'),
]

const INBOX: Rest = { ...TWO, before: ['inbox create orders --partitions 2'] }
const REGIONS: Rest = { ...INBOX, setting: { stdin: '{"id":"o-1"}\n', others: { us: (await given.inbox()).store } } }
const RECORDS: Rest = { world: given.inbox }
const UNDRAINED: Rest = { world: given.undrainedInbox }
const DEAD: Rest = { world: given.inboxWithDeadLetters }

const INBOXES: readonly Case[] = [
  line('inbox-created', 'inbox create orders -o json', TWO),
  line('inbox-created', 'inbox create orders --partitions 2 -o json', INBOX),
  line(undefined, 'inbox create orders --partitions 3 -o json', { ...INBOX, exit: 5 }),
  line('inbox-put', 'inbox put orders -o json', { ...INBOX, setting: { stdin: '{"id":"o-1"}\n' } }),
  line('inbox-put', 'inbox put orders -o json', { ...INBOX, setting: { stdin: 'nonsense\n' }, exit: 7 }),
  line('inbox-put', 'inbox put orders --also us -o json', REGIONS),
  line(undefined, 'inbox serve nix -o ndjson', { exit: 3 }),
  ...both('inboxes', 'inboxes-item', 'inbox ls', RECORDS),
  line('inbox', 'inbox show orders -o json', RECORDS),
  line('inbox', 'inbox show orders -o json', DEAD),
  line('inbox', 'inbox show orders -o json', { world: given.inboxWithDamagedCheckpoint }),
  line(undefined, 'inbox show nix -o json', { exit: 3 }),
  line('inbox-record', 'inbox tail orders -o ndjson', RECORDS),
  line('inbox-removed', 'inbox rm orders --yes -o json', INBOX),
  line('inbox-drain-line', 'inbox drain orders --append A --name x/{/id} --once -o ndjson', { ...UNDRAINED, exit: 7 }),
  ...both('inbox-dead', 'inbox-dead-item', 'inbox dead ls orders', DEAD),
  line('inbox-dead', 'inbox dead show orders o-1 -o json', DEAD),
  line(undefined, 'inbox dead show orders nix -o json', { ...DEAD, exit: 3 }),
  line('inbox-dead-settled', 'inbox dead retry orders o-1 -o json', DEAD),
  line('inbox-dead-settled', 'inbox dead drop orders --all -o json', DEAD),
  line(undefined, 'inbox rm orders --yes -o json', { ...RECORDS, exit: 5 }),
]

const ID = `--lease-id ${given.LEASE_ID}`

const LEASES: readonly Case[] = [
  ...['open', 'held', 'odd'].map(name => line('lease', `lease show ${name} -o json`)),
  line('lease', 'lease acquire a -m repair -o json', TWO),
  line('lease', 'lease acquire a --duration infinite -o json', TWO),
  line('lease', `lease renew b ${ID} -o json`, HELD),
  line('lease', `lease change b ${ID} -o json`, HELD),
  line('lease', `lease release b ${ID} -o json`, HELD),
  line('change', 'lease break b --yes -m gone -o json', HELD),
  line('change', 'lease break b --yes --period 10s -o json', HELD),
  line('change', 'lease break a --yes -o json', HELD),
  ...both('batch', 'change', 'lease break a b --yes', HELD),
  ...both('batch', 'change', 'lease break --all --yes', MIXED),
  ...both('preview', 'preview-item', 'lease break --all --dry-run', HELD),
  line('change', `event edit b - ${ID} -o json`, {
    ...HELD,
    setting: { stdin: '<EventStream><Event id="00" name="Start" status="init"/></EventStream>' },
  }),
  line(undefined, 'event edit b nowhere.xml -o json', { ...HELD, exit: 2 }),
  line('lease', 'lease acquire --of-container -o json', { ...TWO, store: inContainer }),
  line('lease', 'lease show --of-container -o json', { ...TWO, store: inContainer }),
  line('lease', 'lease break --of-container --yes -o json', { ...TWO, store: inContainer }),
  line(undefined, 'lease show --of-container -o json', { ...TWO, exit: 2 }),
  line(undefined, 'lease acquire b -o json', { ...HELD, exit: 6 }),
  line(undefined, `lease renew a ${ID} -o json`, { ...HELD, exit: 11 }),
  line(undefined, 'lease show nix -o json', { ...HELD, exit: 3 }),
]

const IMPORTS: readonly Case[] = [
  ...both('import', 'import-item', 'import FOLDER', {
    ...TWO,
    before: ['export --all --to FOLDER', 'rm b --yes --force'],
  }),
  ...both('import', 'import-item', 'import azurite:old --lease-wait 0s', { ...MIXED, exit: 7 }),
  ...both('import', 'import-item', 'import azurite:old --skip-existing', MIXED),
  ...both('import', 'import-item', 'import azurite:old --replace --yes --lease-wait 0s', { ...MIXED, exit: 7 }),
  ...both('import', 'import-item', 'import azurite:old --dry-run', MIXED),
  ...both('import', 'import-item', 'import azurite:old --match nothing', MIXED),
]

const OVERDUE = { world: given.overdue, store: stores.unsummarized }

const WATCHDOGS: readonly Case[] = [
  line('watchdog-pass', 'watchdog --dry-run -o json', OVERDUE),
  line('watchdog-pass', 'watchdog --once -o json', { ...OVERDUE, exit: 7 }),
  line('watchdog-pass', 'watchdog --once --match nothing -o json', OVERDUE),
  line('watchdog-pass', 'watchdog --dry-run --purge 1ms -o json', OVERDUE),
  line(undefined, 'watchdog --once --shards 2 -o json', { ...OVERDUE, exit: 2 }),
]

const LABS: readonly Case[] = [
  line('lab-lease', 'lab lease --store azurite:tests --procs 2 --duration 20ms --hold 1ms -o json', {
    ...TWO,
    setting: { startLineProcess: inProcess },
  }),
  line('lab-lease', 'lab lease --store azurite:tests --procs 2 -o json', {
    ...TWO,
    setting: { startLineProcess: holdingTogether },
    exit: 1,
  }),
  line('lab-stream', 'lab stream --store azurite:tests --procs 2 --events 3 -o json', {
    ...TWO,
    setting: { startLineProcess: inProcess },
  }),
  line('lab-stream', 'lab stream --store azurite:tests --procs 1 --events 1 -o json', {
    ...TWO,
    setting: { startLineProcess: () => telling([]) },
    exit: 1,
  }),
]

const WORKERS: readonly Case[] = [
  line('work-line', 'work --name A,B --until-empty -o ndjson -- true', TWO),
  line('work-line', 'work --name A,B --until-empty -o ndjson -- false', { ...TWO, exit: 7 }),
  line('work-line', 'work --name A --once --next N -o ndjson -- true', TWO),
  line(undefined, 'work --name Nothing --until-empty -o ndjson -- true', TWO),
  line(undefined, 'work --name A -o ndjson -- no-such-command', { ...TWO, exit: 127 }),
]

/** Ends when the position is written. */
function subscribing(script: string): Case {
  const { store, signal } = untilPosition()
  const words = ['subscribe', '--as', 'b', '--match', 'a', '--op', 'init', '--from', 'start', '-o', 'ndjson', '--']
  return line('subscribe-line', [...words, 'sh', '-c', script], { ...TWO, store, setting: { signal } })
}

const SET = '{"do":"set","stream":"a","event":"00","attributes":{"tag":"x"}}'
const SUBSCRIBED: Rest = { world: subscribed }

const SUBSCRIPTIONS: readonly Case[] = [
  subscribing(`echo '${SET}' >> "$LEASECTL_COMMANDS"`),
  subscribing('exit 3'),
  line(undefined, 'subscribe --as b -o ndjson -- no-such-command', { ...TWO, exit: 127 }),
  line(undefined, 'subscribe --as billing --match z --from start -o ndjson -- true', { ...SUBSCRIBED, exit: 2 }),
  ...both('subscriptions', 'subscriptions-item', 'subscription ls', SUBSCRIBED),
  ...both('subscriptions', 'subscriptions-item', 'subscription ls', { world: newerSubscription }),
  line('subscription', 'subscription show billing -o json', SUBSCRIBED),
  line(undefined, 'subscription show nix -o json', { ...SUBSCRIBED, exit: 3 }),
  line(undefined, 'subscription show billing -o json', { world: newerSubscription, exit: 12 }),
  ...both('parked', 'parked-item', 'subscription parked billing --waiting', SUBSCRIBED),
  line('subscription-request', 'subscription retry billing a b -o json', SUBSCRIBED),
  line('subscription-request', 'subscription retry billing a nix -o json', { ...SUBSCRIBED, exit: 7 }),
  line('subscription-request', 'subscription skip billing a -o json', SUBSCRIBED),
  line('subscription-request', 'subscription skip billing nix -o json', { ...SUBSCRIBED, exit: 5 }),
  line('subscription-request', 'subscription reset billing --from now --yes -o json', SUBSCRIBED),
  line(undefined, 'subscription reset billing --from 2026-03-01T00:00:00Z --yes -o json', { ...SUBSCRIBED, exit: 5 }),
  line('check', 'check -o json', { ...SUBSCRIBED, exit: 1, errors: 0 }),
  ...both('doctor', 'doctor-line', 'doctor', SUBSCRIBED),
  line('subscription-removed', 'subscription rm billing --yes -o json', SUBSCRIBED),
  line(undefined, 'subscription rm billing -o json', { ...SUBSCRIBED, exit: 2 }),
]

/** Their output is specific to the command. */
const PROGRAMS: readonly Case[] = [
  line(undefined, 'exec a 01.00 --owner w2 -o json -- true', { ...CLAIMED, exit: 125 }),
  line(undefined, 'exec a 01.00 -o json -- /', { ...TWO, exit: 126 }),
  line(undefined, 'exec a 01.00 -o json -- /nowhere/worker', { ...TWO, exit: 127 }),
]

/** Commands that change streams or leases. */
export const CHANGING: readonly Case[] = [
  ...CHANGES,
  ...BATCHES,
  ...RUNS,
  ...INBOXES,
  ...LEASES,
  ...IMPORTS,
  ...PROGRAMS,
  ...WATCHDOGS,
  ...LABS,
  ...WORKERS,
  ...SUBSCRIPTIONS,
]
