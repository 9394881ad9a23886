import { existsSync } from 'node:fs'
import { leaseAttemptLine } from '../formats/lease.ts'
import type { TransactOptions } from '../ops/transact/transact.ts'
import { formatAddress, parseAddress, type StoreAddress } from '../store/address.ts'
import { NotPermitted } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import type { Authorship } from '../stream/operations/operation.ts'
import { reasonOf } from '../stream/text.ts'
import { defined } from '../util/defined.ts'
import { visibleText } from '../util/visible-text.ts'
import {
  type Context,
  type Contexts,
  contextNamed,
  isProtectedStore,
  isReadOnlyStore,
  NO_CONTEXTS,
  readContexts,
} from './contexts/contexts.ts'
import type { ChangeFlags, GlobalOptions } from './options.ts'
import { noStream } from './outcome-problem.ts'
import type { Output } from './output.ts'
import { CommandFailed, type Problem, problem, UsageError } from './problem.ts'
import type { Kind, OpenOptions, Runtime, RuntimeStore, StoreChoice } from './runtime.ts'

/**
 * Opens the store of a command. A writing command prints the address if the command line does not name the store.
 *
 * @throws ReadOnlyContext for a command that writes, unless it is a dry run
 */
export async function openStoreFor(
  options: GlobalOptions & { readonly dryRun?: boolean },
  runtime: Runtime,
  output: Output,
): Promise<StreamStore> {
  const opened = await runtime.openStore(storeChoice(options))
  if (runtime.kind === 'writes' && !options.dryRun) await checkMayChange(opened)
  const { store, address, source } = opened
  const line = `store: ${visibleText(address)}${guardWords(opened)} (${sourceText(opened)})`
  const isImplicit = (source === 'azure' || source === 'current') && runtime.kind === 'writes'
  // with -o json programs read stderr too
  if (isImplicit && options.output !== 'json' && options.output !== 'ndjson') await output.say(line)
  else await output.detail(line)
  return store
}

/** Refuses a store that its context opens for reading only. @throws ReadOnlyContext */
export async function checkMayChange(opened: Omit<RuntimeStore, 'store'>): Promise<void> {
  if (opened.isReadOnly) (await import('./contexts/read-only.ts')).refuseReadOnly(opened)
}

/** `, protected, read-only`: how a store is guarded. */
export function guardWords({ isProtected, isReadOnly }: Pick<RuntimeStore, 'isProtected' | 'isReadOnly'>): string {
  return `${isProtected ? ', protected' : ''}${isReadOnly ? ', read-only' : ''}`
}

/** Where the address of a store comes from, in words. */
export function sourceText({ source, context }: Pick<RuntimeStore, 'source' | 'context'>): string {
  switch (source) {
    case 'flag':
      return 'from --store'
    case 'context':
      return `the context ${context}`
    case 'current':
      return `the current context ${context}`
    case 'environment':
      return 'from LEASECTL_STORE'
    case 'azure':
      return 'from the Azure variables of the environment'
    case 'default':
      return 'the embedded store; --store, -c or LEASECTL_STORE selects another'
    default:
      return source satisfies never
  }
}

/** The options that name a store. */
export function storeChoice({ store, container, context }: GlobalOptions): StoreChoice {
  return defined({ store, container, context })
}

/** A phrase for an embedded store whose file does not exist yet; `undefined` for all others. */
export function missingFile(address: string): string | undefined {
  const parsed = parseAddress(address)
  return parsed.kind === 'sqlite' && !existsSync(parsed.path) ? 'the file does not exist (yet)' : undefined
}

/** Refuses a store without a file: a mistyped path would look like an empty store. @throws CommandFailed */
export function requireFile(address: string): void {
  const missing = missingFile(address)
  if (missing === undefined) return
  throw new CommandFailed(
    problem('container-missing', `there is no store at ${address}: ${missing}`, {
      hint: 'Is it the right path? Creating the first stream creates the file.',
    }),
  )
}

/** Adds to a missing stream where it was looked for, and whether the file of the store exists. */
export function withStore(what: Problem, address: string | undefined): Problem {
  if (what.code !== 'stream-not-found' || address === undefined) return what
  const message = what.message === noStream(what.stream ?? '') ? `${what.message} in ${address}` : what.message
  if (missingFile(address) === undefined) return { ...what, message }
  return { ...what, message, hint: `Is it the right store? ${address} does not exist (yet).` }
}

/** Default time between polls, ms: longer over a network. */
export function usualIntervalMs({ address }: StreamStore): number {
  return isNear(address) ? 1_000 : 2_000
}

/** Whether a store is on this machine: requests cost neither money nor a network. */
export function isNear(address: string): boolean {
  return /^(sqlite|memory):/.test(address)
}

/** Default of `--lease-wait`, ms. */
export const DEFAULT_LEASE_WAIT_MS = 10_000

/**
 * The options of a change: who, why, command id, lease. `purpose` is shown to others while the lease is held. The first
 * Ctrl-C only stops waiting for a lease: a change in flight finishes, because a sent write cannot be withdrawn.
 */
export function transactOptions(
  flags: ChangeFlags & Pick<GlobalOptions, 'verbose'>,
  commandId: string,
  purpose: string,
  runtime: Runtime,
): TransactOptions {
  return {
    ...authorship(flags, commandId, runtime),
    leaseWaitMs: flags.leaseWait ?? DEFAULT_LEASE_WAIT_MS,
    purpose,
    stopWaiting: runtime.signal,
    ...defined({ leaseId: flags.leaseId, write: flags.write, ifVersion: flags.ifVersion }),
    ...leaseReport(flags, runtime),
  }
}

/** With `-v`, each attempt to get a lease is a line on stderr, with the sum at its end. */
export function leaseReport(
  { verbose }: Pick<GlobalOptions, 'verbose'>,
  runtime: Runtime,
): Pick<TransactOptions, 'onLeaseAttempt'> {
  if (!verbose) return {}
  const nowMs = () => runtime.opened?.store.nowMs() ?? runtime.nowMs()
  return { onLeaseAttempt: attempt => void runtime.stderr.write(`${leaseAttemptLine(attempt, nowMs())}\n`) }
}

function authorship(flags: ChangeFlags, commandId: string, runtime: Runtime): Authorship {
  return {
    commandId,
    by: flags.by ?? runtime.actor,
    ...(flags.reason === undefined ? {} : { why: reasonOf(flags.reason) }),
  }
}

type Environment = Readonly<Record<string, string | undefined>>

type StoreDescription = Omit<RuntimeStore, 'store'>
type Chosen = Omit<StoreDescription, 'isProtected' | 'isReadOnly'>

/** The default store. */
type DefaultAddress = (env: Environment) => StoreAddress

/**
 * Selects the store. The first of these that is given counts: `--store`, `-c`, `LEASECTL_STORE`, `LEASECTL_CONTEXT`, the
 * current context, Azure if its usual variables are set, the embedded store.
 *
 * @throws UsageError if two flags name a store, or the context does not exist
 */
export function chooseStore(
  choice: StoreChoice,
  env: Environment,
  usual: DefaultAddress,
  contexts: Contexts = NO_CONTEXTS,
): StoreDescription {
  const chosen = named(choice, env, contexts) ?? unnamed(choice.container, env, usual)
  const isReadOnly = isReadOnlyStore(chosen, contexts)
  return { ...chosen, isProtected: isProtectedStore(chosen.address, contexts), ...(isReadOnly && { isReadOnly }) }
}

/**
 * The contexts that apply. An unreadable file stops every command that may change a store, since the store may be
 * protected; a command that only reads the store of `--store` needs no contexts.
 *
 * @throws UsageError as `readContexts`
 */
export function contextsFor(choice: StoreChoice, env: Environment, kind: Kind): Contexts {
  try {
    return readContexts(env)
  } catch (error) {
    if (error instanceof UsageError && kind === 'reads' && choice.store !== undefined) return NO_CONTEXTS
    throw error
  }
}

/** The environment for the driver of a store. A credential file replaces all other credentials in it. */
export async function storeEnvironment(
  { address, credentialFile }: StoreDescription,
  env: Environment,
  { signIn = true }: OpenOptions = {},
): Promise<Environment> {
  if (credentialFile === undefined && signIn) return env
  const { credentialEnvironment, needsSignIn } = await import('./contexts/credentials.ts')
  const seen = credentialFile === undefined ? env : credentialEnvironment(address, credentialFile, env)
  if (!signIn && needsSignIn(address, seen)) throw new NotPermitted(`${address} needs a sign-in`)
  return seen
}

function named(choice: StoreChoice, env: Environment, contexts: Contexts): Chosen | undefined {
  const way = wayOf(choice, env, contexts)
  if (way === undefined) return undefined
  if (choice.container !== undefined) {
    throw new UsageError(`--container and ${way.how} both name a store`, {
      hint: 'Put the container into the address.',
    })
  }
  if (way.kind === 'address') return ofAddress(formatAddress(parseAddress(way.address)), way.source, contexts)
  return ofContext(contextNamed(contexts, way.name, way.how), way.source)
}

/** How the store is named. */
type Way =
  | {
      readonly kind: 'address'
      readonly how: string
      readonly address: string
      readonly source: RuntimeStore['source']
    }
  | { readonly kind: 'context'; readonly how: string; readonly name: string; readonly source: RuntimeStore['source'] }

function wayOf(
  { store, context, contextFlag = '-c' }: StoreChoice,
  env: Environment,
  contexts: Contexts,
): Way | undefined {
  const { current } = contexts
  const how = 'LEASECTL_CONTEXT'
  if (store !== undefined && context !== undefined)
    throw new UsageError('--store and -c both name a store', { hint: 'Use one of them.' })
  if (store !== undefined) return { kind: 'address', how: '--store', address: store, source: 'flag' }
  if (context !== undefined) return { kind: 'context', how: contextFlag, name: context, source: 'context' }
  const { LEASECTL_STORE: address, LEASECTL_CONTEXT: name } = env
  if (address && name && isStoreOf(name, address, contexts)) return { kind: 'context', how, name, source: 'context' }
  if (address) return { kind: 'address', how: 'LEASECTL_STORE', address, source: 'environment' }
  if (name) return { kind: 'context', how, name, source: 'context' }
  return current === undefined
    ? undefined
    : { kind: 'context', how: 'the current context', name: current, source: 'current' }
}

/** `exec` passes both an address and a context to its program: the context may have the credentials. */
function isStoreOf(name: string, address: string, { byName }: Contexts): boolean {
  const context = byName.get(name)
  return context !== undefined && context.store === formatAddress(parseAddress(address))
}

/** Uses the credential file of a store however the store is named, unless two contexts have different files. */
function ofAddress(address: string, source: RuntimeStore['source'], { byName }: Contexts): Chosen {
  const same = [...byName.values()].filter(({ store }) => store === address)
  const [credentialFile, ...others] = new Set(same.flatMap(context => context.credentialFile ?? []))
  return { address, source, ...(credentialFile === undefined || others.length > 0 ? {} : { credentialFile }) }
}

function ofContext({ name, store, credentialFile }: Context, source: RuntimeStore['source']): Chosen {
  return { address: store, source, context: name, ...(credentialFile === undefined ? {} : { credentialFile }) }
}

function unnamed(container: string | undefined, env: Environment, usual: DefaultAddress): Chosen {
  const found = usual(container === undefined ? env : { ...env, LEASECTL_CONTAINER: container })
  const source = found.kind === 'sqlite' ? 'default' : 'azure'
  if (container !== undefined && source === 'default') {
    throw new UsageError('--container needs a storage account', {
      hint: 'Set AZURE_STORAGE_ACCOUNT, or use --store azure:ACCOUNT/CONTAINER.',
    })
  }
  return { address: formatAddress(found), source }
}
