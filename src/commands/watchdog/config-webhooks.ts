import { UsageError } from '../../cli/problem.ts'
import { networkOf } from '../../watchdog/hooks/address-policy.ts'
import { literalOf, refusalOf } from '../../watchdog/hooks/reach.ts'
import { type Field, itemsOf, mappingOf, textOf } from './config-yaml.ts'
import type { HookSetting } from './values.ts'

/** What holds for all webhooks of a file. */
export interface WebhookRule {
  /** Hosts that they may be sent to, as URLs have them. */
  readonly hosts: readonly string[]
  /** Networks of one's own that these may lead to, as they are written. */
  readonly networks: readonly string[]
}

/** `webhooks: {allow: …, networks: …}` */
export function webhookRuleOf(field: Field | undefined): WebhookRule {
  const fields = field && mappingOf(field, ['allow', 'networks'])
  const each = (key: string, read: (where: string, text: string) => string) => {
    const given = fields?.get(key)
    return given === undefined ? [] : (itemsOf(given) ?? [given]).map(item => read(item.where, textOf(item)))
  }
  return { hosts: each('allow', hostOf), networks: each('networks', networkText) }
}

/**
 * The hooks with the networks that they may lead to.
 *
 * @throws UsageError for a webhook of a host that is not on the list, or whose address is an inner one of no network
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
    throw new UsageError(`${where}: ${hostname} is not among the hosts that webhooks may be sent to`, {
      hint: `If it may: webhooks: {allow: [${[...hosts, hostname].join(', ')}]}.`,
    })
  }
  const [address, ...others] = addressesOf(hostname)
  const why = address && refusalOf(address, networks)
  if (why === undefined || address === undefined) return
  if (others.some(other => refusalOf(other, networks) === undefined)) return
  throw new UsageError(`${where}: ${why}`, { hint: hintFor(address, networks) })
}

/** Where it leads for certain; where other names lead is looked at when they are connected to. */
function addressesOf(hostname: string): readonly string[] {
  if (hostname === 'localhost') return ['127.0.0.1', '::1']
  const literal = literalOf(hostname)
  return literal === undefined ? [] : [literal]
}

function hintFor(address: string, networks: readonly string[]): string {
  const opened = [...networks, address]
  const isClosed = refusalOf(address, opened) !== undefined
  if (isClosed)
    return 'Link-local addresses and those of metadata services hand out credentials; none receives webhooks.'
  return `If it may be sent to: webhooks: {networks: [${opened.join(', ')}]}.`
}

function hostOf(where: string, text: string): string {
  const url = `https://${text}`
  const isHost = /^[^\s/?#@*\\]+$/.test(text) && URL.canParse(url)
  // the URL leaves out a port that is the usual one
  const port = /:\d+$/.exec(text)?.[0] ?? ''
  if (isHost) return new URL(url).hostname + port
  throw new UsageError(`${where}: ${JSON.stringify(text)} is no host`, {
    hint: 'Each host by its whole name, such as hooks.example.com or hooks.example.com:8443.',
  })
}

function networkText(where: string, text: string): string {
  if (networkOf(text) !== undefined) return text
  throw new UsageError(`${where}: ${JSON.stringify(text)} is no network`, {
    hint: 'A network or an address of your own, such as 10.1.0.0/16, fd12::/16 or 127.0.0.1.',
  })
}
