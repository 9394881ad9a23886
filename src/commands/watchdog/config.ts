import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { UsageError } from '../../cli/problem.ts'
import { choice, count, duration, pattern } from '../../cli/values.ts'
import { ON_DUE, type OnDue } from '../../stream/operations/operation.ts'
import { errorCode } from '../../util/errors.ts'
import type { ListenAddress } from '../../watchdog/http/server.ts'
import { hooksOf, ruled, type WebhookRule, webhookRuleOf } from './config-hooks.ts'
import { type ConfigField, itemsOf, mappingOf, readYaml, textOf } from './config-yaml.ts'
import { type HookSetting, listenAddress, listenName, shareValue } from './values.ts'

/** What a configuration file says, under the names of the flags; what it leaves out is absent. Durations in ms. */
interface WatchdogConfig {
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
const MAX_CONFIG_BYTES = 64 * 1_024

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
} as const satisfies Readonly<Record<string, readonly [keyof WatchdogConfig, (field: ConfigField) => unknown]>>

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

function each<Value>(parser: (where: string) => (text: string) => Value): (field: ConfigField) => Value {
  return field => parser(field.where)(textOf(field))
}

function namesOf(field: ConfigField): readonly string[] {
  return (itemsOf(field) ?? [field]).map(item => listenName(item.where)(textOf(item)))
}

/** What was read, and what is not as it should be. */
export interface ReadConfig {
  readonly config: WatchdogConfig
  readonly warnings: readonly string[]
}

/** Reads the file of `--config`. @throws UsageError that says what is wrong with the file, or where in it */
export async function readConfigFile(path: string): Promise<ReadConfig> {
  const { text, mode } = await readSmallFile(path, `--config ${path}`, MAX_CONFIG_BYTES)
  const isOpen = (mode & 0o002) !== 0
  return {
    config: readWatchdogConfig(text, path),
    warnings: isOpen ? [`${path} may be written by everyone: whoever does has programs started (chmod o-w)`] : [],
  }
}

export interface SmallFile {
  readonly text: string
  /** Rights and kind, as `stat` has them. */
  readonly mode: number
}

/**
 * The text of a file that somebody named in the settings.
 * @param called what it is and its path, for messages
 * @throws UsageError for what is no file, cannot be read, is too long or no UTF-8; what it holds is never repeated
 */
export async function readSmallFile(path: string, called: string, maxBytes: number): Promise<SmallFile> {
  try {
    // a pipe that nobody writes to is not waited for
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const { mode, isFile } = await file.stat().then(found => ({ mode: found.mode, isFile: found.isFile() }))
      if (!isFile) throw new UsageError(`${called} is not a file`)
      const bytes = Buffer.alloc(maxBytes + 1)
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
      if (bytesRead > maxBytes) throw new UsageError(`${called} is too long`, { hint: `at most ${maxBytes} bytes` })
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead)), mode }
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`${called} cannot be read (${errorCode(cause) ?? 'unknown'})`, { cause })
  }
}
