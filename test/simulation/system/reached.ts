import type { Operation } from '../../../src/stream/operations/operation.ts'
import type { Happening } from '../happenings.ts'
import { START_MS } from '../world.ts'
import type { TownSettings } from './settings.ts'

type Op = Operation['op']

/** Operations of actors in the system; writers without a name, which `settle` follows, do not occur. */
const OPS = {
  init: true,
  start: true,
  touch: true,
  release: true,
  advance: true,
  complete: true,
  fail: true,
  cancel: true,
  abort: true,
  retry: true,
  set: true,
  suspend: true,
  resume: true,
  append: true,
  signal: true,
  skip: true,
} as const satisfies Record<Exclude<Op, 'settle' | 'ack' | 'break-lease'>, true>

/** The entries of a whole document, and of a session that drops its oldest steps. */
const ENTRIES = ['foreign', 'trim']

const FAULTS: Readonly<Record<string, RegExp>> = {
  crashes: /^down$/,
  pauses: /^fault stopped$/,
  'requests lost': /^fault request-lost$/,
  'answers lost': /^fault (answer-lost|unknown-[a-z]+)$/,
  'requests during outages': /^fault outage$/,
  leases: /^leased$/,
  'claims lost': /^job lost$/,
}

/** The faults and operations that must occur in some system, and their numbers in this one. */
export function reachedIn(settings: TownSettings, happenings: readonly Happening[]): ReadonlyMap<string, number> {
  const words = happenings.map(wordOf)
  const faults = Object.entries(FAULTS).map(([name, pattern]): [string, number] => {
    return [name, words.filter(word => pattern.test(word)).length]
  })
  return new Map([...faults, ...clocks(settings, happenings), ...operations(happenings)])
}

function wordOf(happening: Happening): string {
  if (happening.kind === 'fault') return `fault ${happening.fault}`
  return happening.kind === 'job' ? `job ${happening.what}` : happening.kind
}

/** A wrong clock has reached the code when an actor worked or wrote with it. */
function clocks({ troubles, skewMs }: TownSettings, happenings: readonly Happening[]): [string, number][] {
  const acts = happenings.filter(({ kind }) => kind === 'wrote' || kind === 'job')
  const set = troubles.filter(
    trouble =>
      trouble.kind === 'clock' && acts.some(({ who, atMs }) => who === trouble.who && atMs >= START_MS + trouble.atMs),
  )
  const slowOrFast = new Set(troubles.flatMap(trouble => (trouble.kind === 'rate' ? [trouble.who] : [])))
  return [
    ['changes by clocks that differ from the store’s', skewMs === 0 ? 0 : acts.filter(isSkewed).length],
    ['clocks that were set', set.length],
    [
      'work by clocks half or twice as fast',
      acts.filter(({ kind, who }) => kind === 'job' && slowOrFast.has(who)).length,
    ],
  ]
}

/** The creator of streams has the clock of the store. */
function isSkewed({ kind, who }: Happening): boolean {
  return kind === 'wrote' && who !== 'founder'
}

/** Changes by their kind, those of watchdogs separately. A heartbeat leaves no journal entry. */
function operations(happenings: readonly Happening[]): [string, number][] {
  const times = new Map(['expiries', ...[...Object.keys(OPS), ...ENTRIES].map(written)].map(name => [name, 0]))
  const count = (name: string) => times.set(name, (times.get(name) ?? 0) + 1)
  for (const happening of happenings) {
    if (happening.kind !== 'wrote') continue
    if (happening.entries.length === 0) count(written('touch'))
    for (const { op, commandId } of happening.entries)
      count(commandId.startsWith('watchdog:') ? 'expiries' : written(op))
  }
  return [...times]
}

const written = (op: string): string => `${op} written`
