import { isOnDue, ON_DUE, type OnDue } from '../../stream/operation.ts'
import type { ListenAddress } from '../../watchdog/listen.ts'
import { UsageError } from '../problem.ts'
import { choice, count, duration, nonEmpty } from '../values.ts'
import { checkAllowed, hooksOf, hostsOf } from './config-hooks.ts'
import { type Field, mappingOf, readYaml, textOf } from './config-yaml.ts'
import { type HookSetting, shareValue } from './hook-values.ts'
import { listenAddress } from './listen-value.ts'

/** What a configuration file says, under the names of the flags; what it leaves out is absent. Durations in ms. */
export interface WatchdogConfig {
  readonly interval?: number
  readonly match?: string
  readonly onDue?: OnDue
  readonly maxPerPass?: number
  /** 0 to 1. */
  readonly maxShare?: number
  readonly shards?: number
  readonly listen?: ListenAddress
  readonly onExpired?: readonly HookSetting[]
  readonly onDone?: readonly HookSetting[]
  readonly onFailed?: readonly HookSetting[]
}

/** A longer file is none. */
export const MAX_CONFIG_BYTES = 64 * 1_024

/** Each value is read as that of the flag is, so that both are refused for the same reasons. */
const READERS = {
  interval: ['interval', each(duration)],
  match: ['match', each(nonEmpty)],
  'on-due': ['onDue', each(where => text => onDue(where, text))],
  'max-per-pass': ['maxPerPass', each(where => count(where, 1))],
  'max-share': ['maxShare', each(shareValue)],
  shards: ['shards', each(where => count(where, 1))],
  listen: ['listen', each(listenAddress)],
  'on-expired': ['onExpired', hooksOf],
  'on-done': ['onDone', hooksOf],
  'on-failed': ['onFailed', hooksOf],
} as const satisfies Readonly<Record<string, readonly [keyof WatchdogConfig, (field: Field) => unknown]>>

const KEYS = [...Object.keys(READERS), 'webhooks']

/**
 * Reads the text of a configuration file.
 *
 * @param file as it was named, for messages
 * @throws UsageError that names file, line and key
 */
export function readWatchdogConfig(text: string, file: string): WatchdogConfig {
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES) {
    throw new UsageError(`${file} is longer than any configuration`, { hint: `at most ${MAX_CONFIG_BYTES} bytes` })
  }
  const fields = mappingOf(readYaml(text, file), KEYS)
  const read = Object.entries(READERS).flatMap(([key, [name, reader]]) => {
    const field = fields.get(key)
    return field === undefined ? [] : [[name, reader(field)] as const]
  })
  const config: WatchdogConfig = Object.fromEntries(read)
  const { onExpired = [], onDone = [], onFailed = [] } = config
  checkAllowed([...onExpired, ...onDone, ...onFailed], allowedHosts(fields.get('webhooks')))
  return config
}

function allowedHosts(field: Field | undefined): readonly string[] {
  const allow = field && mappingOf(field, ['allow']).get('allow')
  return allow === undefined ? [] : hostsOf(allow)
}

function each<Value>(parser: (where: string) => (text: string) => Value): (field: Field) => Value {
  return field => parser(field.where)(textOf(field))
}

function onDue(where: string, text: string): OnDue {
  if (isOnDue(text)) return text
  choice(where, ON_DUE)(text)
  throw new UsageError(`${where} does not take ${JSON.stringify(text)}`)
}
