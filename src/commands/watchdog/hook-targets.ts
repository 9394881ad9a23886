import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, resolve } from 'node:path'
import { UsageError } from '../../cli/problem.ts'
import { DEFAULT_TRIES } from '../../subscriptions/retry.ts'
import { defined } from '../../util/defined.ts'
import { errorCode } from '../../util/errors.ts'
import { DEFAULT_TIMEOUT_MS, type Hooks, type HookTarget, SigningSecret } from '../../watchdog/hooks/target.ts'
import { readSmallFile } from './config.ts'
import type { CommandSetting, HookSetting, WebhookSetting } from './values.ts'

/** Hooks by kind, from flags or a configuration file. */
export interface HookSettings {
  readonly onExpired?: readonly HookSetting[]
  readonly onDone?: readonly HookSetting[]
  readonly onFailed?: readonly HookSetting[]
  readonly onCompensated?: readonly HookSetting[]
  readonly onCompensationFailed?: readonly HookSetting[]
}

export interface ReadyHooks {
  /** `undefined` if there are no hooks. */
  readonly hooks: Hooks | undefined
  readonly warnings: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

const MAX_SECRET_BYTES = 4_096

/**
 * Resolves hooks: checks that programs exist and are executable, and reads secrets. Mistakes are thus reported at the
 * start and not when the first event fails.
 *
 * @throws UsageError with the flag, or the position in the file
 */
export async function hookTargets(settings: HookSettings, env: Environment): Promise<ReadyHooks> {
  const warnings: string[] = []
  const targets = (hooks: readonly HookSetting[] = []) =>
    Promise.all(hooks.map(hook => targetOf(hook, env, text => warnings.push(text))))
  const hooks = {
    expired: await targets(settings.onExpired),
    done: await targets(settings.onDone),
    failed: await targets(settings.onFailed),
    compensated: await targets(settings.onCompensated),
    'compensation-failed': await targets(settings.onCompensationFailed),
  }
  const hasAny = Object.values(hooks).some(list => list.length > 0)
  return { hooks: hasAny ? hooks : undefined, warnings }
}

async function targetOf(hook: HookSetting, env: Environment, warn: (text: string) => void): Promise<HookTarget> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, tries = DEFAULT_TRIES } = hook
  if (hook.kind === 'command') {
    const [, ...args] = hook.argv
    return { kind: 'command', argv: [await programOf(hook, env), ...args], timeoutMs, tries }
  }
  const secret = await secretOf(hook, env, warn)
  const { url, networks } = hook
  return { kind: 'webhook', url, ...defined({ secret, networks }), timeoutMs, tries }
}

/** The absolute path of the program. A bare name is looked up on PATH, as in a shell. */
async function programOf({ where, argv: [program], folder = '.' }: CommandSetting, env: Environment): Promise<string> {
  const isBare = !program.includes('/')
  const folders = isBare ? (env.PATH ?? '').split(delimiter).filter(each => each.startsWith('/')) : [folder]
  let fault = 'no such program'
  for (const each of folders) {
    const path = resolve(each, program)
    const found = await faultOf(path)
    if (found === undefined) return path
    if (found !== '') fault = found
  }
  throw new UsageError(`${where}: ${JSON.stringify(program)}: ${fault}`, { hint: hintFor(program, isBare) })
}

/** The reason why a file cannot be executed: `''` if it does not exist, `undefined` if it can. */
async function faultOf(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return 'it is not a file'
    await access(path, constants.X_OK)
    return undefined
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return ''
    return code === 'EACCES'
      ? 'it cannot be executed: run chmod +x; every folder above it must be accessible'
      : String(code)
  }
}

function hintFor(program: string, isBare: boolean): string {
  if (/^https?:/i.test(program)) return 'Put webhooks into the file of --config.'
  if (/\s/.test(program))
    return `A path may contain spaces; to pass arguments, use a JSON array: '["notify","--team","x"]'.`
  return isBare
    ? 'A name without / is looked up on PATH; write ./NAME for a program in this folder.'
    : 'Write its full path.'
}

async function secretOf(
  { where, secret, folder = '.' }: WebhookSetting,
  env: Environment,
  warn: (text: string) => void,
): Promise<SigningSecret | undefined> {
  if (secret === undefined) return undefined
  const called = 'file' in secret ? `${where}: the secret file ${secret.file}` : `${where}: ${secret.env}`
  const text =
    'file' in secret ? await secretFile(resolve(folder, secret.file), called, MAX_SECRET_BYTES, warn) : env[secret.env]
  if (text === undefined) throw new UsageError(`${called} is not set in the environment`)
  const read = SigningSecret.read(text)
  if (typeof read === 'string') throw new UsageError(`${called} contains no valid secret: ${read}`)
  return read
}

/** The text of a file with a secret. @param warn called if anybody can read it. @throws UsageError */
export async function secretFile(
  path: string,
  called: string,
  maxBytes: number,
  warn: (text: string) => void,
): Promise<string> {
  const { text, mode } = await readSmallFile(path, called, maxBytes)
  if ((mode & 0o004) !== 0) warn(`${called} is world-readable (chmod o-r)`)
  return text
}
