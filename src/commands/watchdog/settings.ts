import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { ListenAddress } from '../../http/listen.ts'
import { MOST_SHARDS } from '../../ops/shards/quota.ts'
import type { DueAction } from '../../stream/operations/operation.ts'
import { readConfigFile } from './config.ts'
import type { HookSettings } from './hook-targets.ts'

/** Flags that a configuration file may set too. */
interface Shared extends HookSettings {
  readonly interval?: number
  readonly match?: string
  readonly onDue?: DueAction
  readonly maxPerPass?: number
  readonly maxShare?: number
  readonly shards?: number
  /** Removes streams completed for longer than this, ms. */
  readonly purge?: number
  readonly listen?: ListenAddress
}

export interface WatchdogCommandOptions extends GlobalOptions, Shared {
  readonly once?: boolean
  readonly dryRun?: boolean
  /** A file with further settings. */
  readonly config?: string
}

/** Settings of a watchdog: flags, then the file, then defaults. */
export interface Settings extends HookSettings {
  /** By default depends on the store. */
  readonly interval: number | undefined
  readonly match: string | undefined
  readonly onDue: DueAction
  readonly maxPerPass: number
  readonly maxShare: number
  readonly shards: number | undefined
  readonly purge: number | undefined
  readonly listen: ListenAddress | undefined
  /** Host names accepted by the HTTP endpoints. */
  readonly listenNames: readonly string[]
  /** Warnings that do not prevent the start. */
  readonly warnings: readonly string[]
}

const USUAL = { onDue: 'abort-event', maxPerPass: 1_000, maxShare: 0.2 } as const
/** At least: a sweep lists the whole store. At most: a limit of timers. */
const INTERVAL_MS = { least: 500, most: 24 * 3_600_000 } as const

/** @throws UsageError for settings that are invalid, alone or together */
export async function readSettings(options: WatchdogCommandOptions): Promise<Settings> {
  refuseTogether(options)
  const read = options.config === undefined ? undefined : await readConfigFile(options.config)
  const given: Shared = { ...read?.config, ...ofFlags(options) }
  const listenNames = read?.config.listenNames ?? []
  const { interval, match, shards, listen, purge } = given
  const settings = {
    ...USUAL,
    ...given,
    interval,
    match,
    shards,
    purge,
    listen,
    listenNames,
    warnings: read?.warnings ?? [],
  }
  checkRanges(settings)
  return settings
}

const SHARED = [
  'interval',
  'match',
  'onDue',
  'maxPerPass',
  'maxShare',
  'shards',
  'purge',
  'listen',
  'onExpired',
  'onDone',
  'onFailed',
  'onCompensated',
  'onCompensationFailed',
] as const satisfies readonly (keyof Shared)[]

function ofFlags(options: WatchdogCommandOptions): Shared {
  return Object.fromEntries(SHARED.flatMap(name => (options[name] === undefined ? [] : [[name, options[name]]])))
}

/** Flags for the daemon only. In a configuration file `--once` ignores them, so that the same file serves both. */
const ONLY_DAEMON = [
  ['interval', '--interval', 'it makes only one pass'],
  ['listen', '--listen', 'it stops after one pass'],
  ['shards', '--shards', 'its pass covers all streams'],
] as const
const ONLY_WATCHING = [
  ['onExpired', '--on-expired'],
  ['onDone', '--on-done'],
  ['onFailed', '--on-failed'],
  ['onCompensated', '--on-compensated'],
  ['onCompensationFailed', '--on-compensation-failed'],
] as const

function refuseTogether(options: WatchdogCommandOptions): void {
  const single = options.dryRun ? '--dry-run' : '--once'
  if (!options.once && !options.dryRun) return
  for (const [name, flag, why] of ONLY_DAEMON) {
    if (options[name] !== undefined) throw new UsageError(`${single} takes no ${flag}: ${why}`)
  }
  if (!options.dryRun) return
  for (const [name, flag] of ONLY_WATCHING) {
    if (options[name] !== undefined) throw new UsageError(`--dry-run takes no ${flag}: it changes nothing`)
  }
}

function checkRanges({ interval, shards, maxShare }: Settings): void {
  if (interval !== undefined && (interval < INTERVAL_MS.least || interval > INTERVAL_MS.most)) {
    throw new UsageError('the interval must be between 500ms and 24h', { hint: 'Write --interval 10s.' })
  }
  if (shards !== undefined && shards > MOST_SHARDS) {
    throw new UsageError(`${shards} is too many shards`, { hint: `from 1 to ${MOST_SHARDS}` })
  }
  if (maxShare === 0) {
    throw new UsageError('with a share of 0% a pass can never end more than 50 events', { hint: 'Write 20%.' })
  }
}
