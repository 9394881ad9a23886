import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { listenAddress, listenName } from '../../cli/listen-address.ts'
import { UsageError } from '../../cli/problem.ts'
import { choice, count, duration, pattern } from '../../cli/values.ts'
import type { ListenAddress } from '../../http/listen.ts'
import { DUE_ACTIONS, type DueAction } from '../../stream/operations/operation.ts'
import { errorCode } from '../../util/errors.ts'
import { hooksOf, ruled, type WebhookRule, webhookRuleOf } from './config-hooks.ts'
import { type ConfigField, itemsOf, mappingOf, readYaml, textOf } from './config-yaml.ts'
import { type HookSetting, shareValue } from './values.ts'

/**
 * Contents of a configuration file under the names of the flags; settings that it omits are absent. Durations in ms.
 */
interface WatchdogConfig {
  readonly interval?: number
  readonly match?: string
  readonly onDue?: DueAction
  readonly maxPerPass?: number
  /** 0 to 1. */
  readonly maxShare?: number
  readonly shards?: number
  readonly purge?: number
  readonly listen?: ListenAddress
  readonly listenNames?: readonly string[]
  readonly onExpired?: readonly HookSetting[]
  readonly onDone?: readonly HookSetting[]
  readonly onFailed?: readonly HookSetting[]
  readonly onCompensated?: readonly HookSetting[]
  readonly onCompensationFailed?: readonly HookSetting[]
}

/** Limit for the size of a configuration file. */
const MAX_CONFIG_BYTES = 64 * 1_024

/** Values are parsed by the parsers of the flags, so both accept the same and fail with the same errors. */
const READERS = {
  interval: ['interval', each(duration)],
  match: ['match', each(pattern)],
  'on-due': ['onDue', each(where => choice(where, DUE_ACTIONS))],
  'max-per-pass': ['maxPerPass', each(where => count(where, 1))],
  'max-share': ['maxShare', each(shareValue)],
  shards: ['shards', each(where => count(where, 1))],
  purge: ['purge', each(duration)],
  listen: ['listen', each(listenAddress)],
  'listen-names': ['listenNames', namesOf],
  'on-expired': ['onExpired', hooksOf],
  'on-done': ['onDone', hooksOf],
  'on-failed': ['onFailed', hooksOf],
  'on-compensated': ['onCompensated', hooksOf],
  'on-compensation-failed': ['onCompensationFailed', hooksOf],
} as const satisfies Readonly<Record<string, readonly [keyof WatchdogConfig, (field: ConfigField) => unknown]>>

const KEYS = [...Object.keys(READERS), 'webhooks']

/**
 * Reads the text of a configuration file.
 *
 * @param file name of the file for error messages
 * @throws UsageError with file, line and key
 */
export function readWatchdogConfig(text: string, file: string): WatchdogConfig {
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES) {
    throw new UsageError(`${file} is too long for a configuration`, { hint: `at most ${MAX_CONFIG_BYTES} bytes` })
  }
  const fields = mappingOf(readYaml(text, file), KEYS)
  const read = Object.entries(READERS).flatMap(([key, [name, reader]]) => {
    const field = fields.get(key)
    return field === undefined ? [] : [[name, reader(field)] as const]
  })
  const rule = webhookRuleOf(fields.get('webhooks'))
  return withRule(Object.fromEntries(read), rule)
}

/** Applies the webhook rules to the hooks of the configuration. */
function withRule(config: WatchdogConfig, rule: WebhookRule): WatchdogConfig {
  const names = ['onExpired', 'onDone', 'onFailed', 'onCompensated', 'onCompensationFailed'] as const
  const hooks = names.flatMap(name => {
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

/** A configuration that was read, with warnings about the file. */
export interface ReadConfig {
  readonly config: WatchdogConfig
  readonly warnings: readonly string[]
}

/** Reads the file of `--config`. @throws UsageError that says what is wrong, and where in the file */
export async function readConfigFile(path: string): Promise<ReadConfig> {
  const { text, mode } = await readSmallFile(path, `--config ${path}`, MAX_CONFIG_BYTES)
  const isOpen = (mode & 0o002) !== 0
  return {
    config: readWatchdogConfig(text, path),
    warnings: isOpen ? [`${path} is world-writable: anyone who can write it can start programs (chmod o-w)`] : [],
  }
}

export interface SmallFile {
  readonly text: string
  /** Permissions and type as in `stat`. */
  readonly mode: number
}

/**
 * Reads a file named in the settings.
 * @param called kind and path of the file for error messages
 * @throws UsageError if it is not a file, unreadable, too long or not UTF-8; errors never quote its contents
 */
export async function readSmallFile(path: string, called: string, maxBytes: number): Promise<SmallFile> {
  try {
    // O_NONBLOCK: opening a pipe without a writer must not wait
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
