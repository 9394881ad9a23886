import { UsageError } from '../../cli/problem.ts'
import { choice, count, duration, pattern } from '../../cli/values.ts'
import { ON_DUE, type OnDue } from '../../stream/operations/operation.ts'
import type { ListenAddress } from '../../watchdog/http/server.ts'
import { hooksOf } from './config-hooks.ts'
import { ruled, type WebhookRule, webhookRuleOf } from './config-webhooks.ts'
import { type Field, itemsOf, mappingOf, readYaml, textOf } from './config-yaml.ts'
import { listenAddress, listenName } from './listen-value.ts'
import { type HookSetting, shareValue } from './values.ts'

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
  readonly listenNames?: readonly string[]
  readonly onExpired?: readonly HookSetting[]
  readonly onDone?: readonly HookSetting[]
  readonly onFailed?: readonly HookSetting[]
}

/** A longer file is none. */
export const MAX_CONFIG_BYTES = 64 * 1_024

/** Each value is read as that of the flag is, so that both are refused for the same reasons. */
const READERS = {
  interval: ['interval', each(duration)],
  match: ['match', each(pattern)],
  'on-due': ['onDue', each(where => choice(where, ON_DUE))],
  'max-per-pass': ['maxPerPass', each(where => count(where, 1))],
  'max-share': ['maxShare', each(shareValue)],
  shards: ['shards', each(where => count(where, 1))],
  listen: ['listen', each(listenAddress)],
  'listen-names': ['listenNames', namesOf],
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
  const rule = webhookRuleOf(fields.get('webhooks'))
  return withRule(Object.fromEntries(read), rule)
}

/** The configuration with what holds for all webhooks in each of them. */
function withRule(config: WatchdogConfig, rule: WebhookRule): WatchdogConfig {
  const hooks = (['onExpired', 'onDone', 'onFailed'] as const).flatMap(name => {
    const given = config[name]
    return given === undefined ? [] : [[name, ruled(given, rule)] as const]
  })
  return { ...config, ...Object.fromEntries(hooks) }
}

function each<Value>(parser: (where: string) => (text: string) => Value): (field: Field) => Value {
  return field => parser(field.where)(textOf(field))
}

function namesOf(field: Field): readonly string[] {
  return (itemsOf(field) ?? [field]).map(item => listenName(item.where)(textOf(item)))
}
