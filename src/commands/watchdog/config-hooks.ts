import { dirname } from 'node:path'
import { UsageError } from '../../cli/problem.ts'
import { count, duration } from '../../cli/values.ts'
import { defined } from '../../util/defined.ts'
import { isLoopback } from '../../util/loopback.ts'
import { literalOf, networkOf, refusalOf } from '../../watchdog/hooks/address-policy.ts'
import { type ConfigField, isMapping, isText, itemsOf, mappingOf, textOf } from './config-yaml.ts'
import { commandOf, type HookSetting, hookCommand, type WebhookSetting } from './values.ts'

const KEYS = ['command', 'webhook', 'secret-file', 'secret-env', 'timeout', 'tries']
const LONGEST_TIMEOUT_MS = 10 * 60_000
const MOST_TRIES = 10

const FORMS = 'a path, a list of program and arguments, or {command: […]} or {webhook: URL}, or a list of these'

/** Hooks of one kind: a path, a program with arguments, a mapping, or a list of mappings. */
export function hooksOf(field: ConfigField): readonly HookSetting[] {
  const folder = dirname(field.source.file)
  const items = itemsOf(field)
  if (items === undefined) return [isMapping(field) ? hookOf(field, folder) : commandHook(field, folder)]
  if (items.length === 0) throw new UsageError(`${field.where} is an empty list`, { hint: FORMS })
  if (items.every(isMapping)) return items.map(item => hookOf(item, folder))
  if (items.every(isText)) return [commandHook(field, folder)]
  throw new UsageError(`${field.where} mixes strings and mappings`, { hint: FORMS })
}

function hookOf(field: ConfigField, folder: string): HookSetting {
  const fields = mappingOf(field, [...KEYS, 'secret'])
  const { command, webhook } = Object.fromEntries(fields)
  if ((command === undefined) === (webhook === undefined)) {
    throw new UsageError(`${field.where} needs either a command or a webhook`, { hint: FORMS })
  }
  const limits = limitsOf(fields)
  if (webhook !== undefined) return { ...webhookOf(webhook, fields, folder), ...limits }
  const secret = ['secret', 'secret-file', 'secret-env'].map(key => fields.get(key)).find(Boolean)
  if (secret !== undefined) throw new UsageError(`${secret.where}: a command has no secret`)
  return { ...commandHook(command ?? field, folder), ...limits }
}

function commandHook(field: ConfigField, folder: string): HookSetting {
  const items = itemsOf(field)
  const argv = items === undefined ? undefined : commandOf(field.where, items.map(textOf))
  if (argv !== undefined) return { kind: 'command', where: field.where, folder, argv }
  const [given] = hookCommand(field.where)(textOf(field))
  return { kind: 'command', where: field.where, folder, argv: given?.argv ?? commandOf(field.where, []) }
}

function webhookOf(field: ConfigField, fields: ReadonlyMap<string, ConfigField>, folder: string): WebhookSetting {
  const inline = fields.get('secret')
  if (inline !== undefined) {
    throw new UsageError(`${inline.where}: do not write a secret into this file`, {
      hint: 'Write where to find it: secret-file: PATH, or secret-env: VARIABLE.',
    })
  }
  const [file, env] = [fields.get('secret-file'), fields.get('secret-env')]
  if (file !== undefined && env !== undefined) {
    throw new UsageError(`${env.where}: secret-file is set already`, { hint: 'Leave out one of the two.' })
  }
  return {
    kind: 'webhook',
    where: field.where,
    url: webhookUrl(field.where, textOf(field)),
    folder,
    ...(file === undefined ? {} : { secret: { file: nonEmptyOf(file) } }),
    ...(env === undefined ? {} : { secret: { env: variableOf(env) } }),
  }
}

/** Errors never quote the URL or a part of it: paths and queries of webhooks are usually secret. */
function webhookUrl(where: string, text: string): string {
  const bad = (what: string, hint = 'Write https://HOST/PATH.') => new UsageError(`${where}: ${what}`, { hint })
  if (!URL.canParse(text)) throw bad('not a URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw bad('not an https URL')
  if (url.username !== '' || url.password !== '') {
    throw bad('the URL contains a user', 'Sign the requests instead: secret-file: PATH, or secret-env: VARIABLE.')
  }
  if (url.hash !== '') throw bad('the URL contains a fragment, which is never sent')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw bad('http sends everything unencrypted', 'Use https; http is allowed to this machine only.')
  }
  return url.href
}

function limitsOf(fields: ReadonlyMap<string, ConfigField>): Pick<HookSetting, 'timeoutMs' | 'tries'> {
  const [timeout, tries] = [fields.get('timeout'), fields.get('tries')]
  return defined({ timeoutMs: timeout && timeoutOf(timeout), tries: tries && triesOf(tries) })
}

function timeoutOf(field: ConfigField): number {
  const ms = duration(field.where)(textOf(field))
  if (ms <= LONGEST_TIMEOUT_MS) return ms
  throw new UsageError(`${field.where} ${textOf(field)} is too long for a hook`, { hint: 'at most 10m' })
}

function triesOf(field: ConfigField): number {
  const tries = count(field.where, 1)(textOf(field))
  if (tries <= MOST_TRIES) return tries
  throw new UsageError(`${field.where} ${tries} is too many`, { hint: `a whole number from 1 to ${MOST_TRIES}` })
}

function nonEmptyOf(field: ConfigField): string {
  const text = textOf(field)
  if (text === '') throw new UsageError(`${field.where} is empty`, { hint: 'Give it a value, or leave it out.' })
  return text
}

function variableOf(field: ConfigField): string {
  const text = textOf(field)
  if (/^[A-Za-z_]\w*$/.test(text)) return text
  throw new UsageError(`${field.where} is not the name of an environment variable`, {
    hint: 'Give only the name, such as WEBHOOK_SECRET, never the secret itself.',
  })
}

/** Rules for all webhooks of a file. */
export interface WebhookRule {
  /** Hosts that webhooks may be sent to, as written in URLs. */
  readonly hosts: readonly string[]
  /** Private networks that webhooks may reach, as written in the file. */
  readonly networks: readonly string[]
}

/** `webhooks: {allow: …, networks: …}` */
export function webhookRuleOf(field: ConfigField | undefined): WebhookRule {
  const fields = field && mappingOf(field, ['allow', 'networks'])
  const each = (key: string, read: (where: string, text: string) => string) => {
    const given = fields?.get(key)
    return given === undefined ? [] : (itemsOf(given) ?? [given]).map(item => read(item.where, textOf(item)))
  }
  return { hosts: each('allow', hostOf), networks: each('networks', networkText) }
}

/**
 * Adds the permitted networks to the hooks.
 *
 * @throws UsageError if the host of a webhook is not on the list, or its address is private and in no permitted network
 */
export function ruled(hooks: readonly HookSetting[], rule: WebhookRule): readonly HookSetting[] {
  const { networks } = rule
  return hooks.map(hook => {
    if (hook.kind !== 'webhook') return hook
    checkHost(hook.where, new URL(hook.url), rule)
    return networks.length === 0 ? hook : { ...hook, networks }
  })
}

const USUAL_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

function checkHost(where: string, { hostname, port, protocol }: URL, { hosts, networks }: WebhookRule): void {
  const host = `${hostname}:${port === '' ? USUAL_PORTS[protocol] : port}`
  if (!hosts.includes(host) && !hosts.includes(hostname)) {
    throw new UsageError(`${where}: ${hostname} is not on the list of permitted webhook hosts`, {
      hint: `To permit it: webhooks: {allow: [${[...hosts, hostname].join(', ')}]}.`,
    })
  }
  const [address, ...others] = addressesOf(hostname)
  const why = address && refusalOf(address, networks)
  if (why === undefined || address === undefined) return
  if (others.some(other => refusalOf(other, networks) === undefined)) return
  throw new UsageError(`${where}: ${why}`, { hint: hintFor(address, networks) })
}

/** Addresses that are known without a name server; those of other names are checked on each connection. */
function addressesOf(hostname: string): readonly string[] {
  if (hostname === 'localhost') return ['127.0.0.1', '::1']
  const literal = literalOf(hostname)
  return literal === undefined ? [] : [literal]
}

function hintFor(address: string, networks: readonly string[]): string {
  const opened = [...networks, address]
  const isClosed = refusalOf(address, opened) !== undefined
  if (isClosed) return 'Link-local addresses and metadata services hand out credentials and never receive webhooks.'
  return `To permit it: webhooks: {networks: [${opened.join(', ')}]}.`
}

function hostOf(where: string, text: string): string {
  const url = `https://${text}`
  const isHost = /^[^\s/?#@*\\]+$/.test(text) && URL.canParse(url)
  // URL drops the default port
  const port = /:\d+$/.exec(text)?.[0] ?? ''
  if (isHost) return new URL(url).hostname + port
  throw new UsageError(`${where}: ${JSON.stringify(text)} is not a host`, {
    hint: 'Write the full name of each host, such as hooks.example.com or hooks.example.com:8443.',
  })
}

function networkText(where: string, text: string): string {
  if (networkOf(text) !== undefined) return text
  throw new UsageError(`${where}: ${JSON.stringify(text)} is not a network`, {
    hint: 'Write a private network or address, such as 10.1.0.0/16, fd12::/16 or 127.0.0.1.',
  })
}
