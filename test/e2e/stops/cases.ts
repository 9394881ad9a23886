import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { runBatch } from '../../../src/util/concurrency.ts'

/** The number of streams, with two open events each. */
const STREAMS = 16
const names = Array.from({ length: STREAMS }, (_, at) => `s-${at}`)
export const CANCEL = ['cancel', ...names, '--yes', '--expect', `${STREAMS}`] as const

export async function plant(store: StreamStore): Promise<void> {
  await runBatch(names, { concurrency: 8 }, async name => {
    const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A' }, { name: 'A' }], hold: false } as const
    const { kind } = await transact(store, name, { ...init, born: name }, { commandId: 'init', by: 'test' })
    if (kind !== 'done') throw new Error(`${name}: ${kind}`)
  })
}

/** Programs that the cases run: file name and shell script. */
export const SCRIPTS: readonly (readonly [name: string, script: string])[] = [
  ['short', 'sleep 0.05'],
  ['long', 'echo up; while :; do sleep 0.02; done'],
]

/** The signal that ended it. */
export const TERM = 143

export interface Case {
  /** The command line, without its store. */
  readonly argv: readonly string[]
  /** Output that shows that it is in the middle of its work. */
  readonly ready: readonly ['stdout' | 'stderr', RegExp]
  readonly kind: 'idle' | 'busy'
  /** Allowed exit codes: some end before the signal. */
  readonly codes: readonly number[]
}

/** The minimum number of Puts, and of requests of any kind, that it sends to Azure. */
export interface AzureCase extends Case {
  readonly puts: number
  readonly requests: number
}

export const BUSY: Readonly<Record<string, AzureCase>> = {
  'work, busy': {
    argv: ['work', '--name', 'A', '--concurrency', '3', '--', './short'],
    ready: ['stderr', /completed/],
    kind: 'busy',
    codes: [0],
    puts: 24,
    requests: 60,
  },
  exec: {
    argv: ['exec', 's-1', '01.00', '--', './long'],
    ready: ['stdout', /up/],
    kind: 'busy',
    codes: [TERM],
    puts: 1,
    requests: 3,
  },
  'cancel of many': {
    argv: [...CANCEL, '--concurrency', '2'],
    ready: ['stdout', /done/],
    kind: 'busy',
    codes: [0, TERM],
    puts: 12,
    requests: 40,
  },
}

export const CASES: Readonly<Record<string, Case>> = {
  'tail -f': { argv: ['tail', '-f', 's-0'], ready: ['stdout', /init/], kind: 'idle', codes: [TERM] },
  wait: { argv: ['wait', 's-0', '-v'], ready: ['stderr', /^store: /], kind: 'idle', codes: [TERM] },
  'work, idle': {
    argv: ['work', '--name', 'B', '--max-idle', '10m', '-v', '--', 'true'],
    ready: ['stderr', /^store: /],
    kind: 'idle',
    codes: [0],
  },
  ...BUSY,
}
