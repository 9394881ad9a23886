import { existsSync } from 'node:fs'
import type { TransactOptions } from '../ops/transact/transact.ts'
import { parseAddress } from '../store/address.ts'
import type { StreamStore } from '../store/store.ts'
import type { Authorship } from '../stream/operations/operation.ts'
import { defined } from '../util/defined.ts'
import { visibleText } from '../util/visible-text.ts'
import type { ChangeFlags, GlobalOptions } from './options.ts'
import type { Output } from './output.ts'
import { CommandFailed, type Problem, problem, UsageError } from './problem.ts'
import type { Runtime, RuntimeStore, StoreChoice } from './runtime.ts'

/** Opens the store of a command. A writing command prints the address if the command line does not name the store. */
export async function openStoreFor(options: GlobalOptions, runtime: Runtime, output: Output): Promise<StreamStore> {
  const opened = await runtime.openStore(storeChoice(options))
  const { store, address, source } = opened
  const line = `store: ${visibleText(address)}${opened.isProtected ? ', protected' : ''} (${sourceText(opened)})`
  const isImplicit = (source === 'azure' || source === 'current') && runtime.kind === 'writes'
  // with -o json programs read stderr too
  if (isImplicit && options.output !== 'json' && options.output !== 'ndjson') await output.say(line)
  else await output.detail(line)
  return store
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

/** Adds to a missing stream that the file of its store does not exist: the path may be mistyped. */
export function withMissingFile(what: Problem, address: string | undefined): Problem {
  if (what.code !== 'stream-not-found' || address === undefined || missingFile(address) === undefined) return what
  return { ...what, hint: `Is it the right store? ${address} does not exist (yet).` }
}

/** Default time between polls, ms: longer over a network. */
export function usualIntervalMs({ address }: StreamStore): number {
  return isNear(address) ? 1_000 : 2_000
}

/** Whether a store is on this machine: requests cost neither money nor a network. */
export function isNear(address: string): boolean {
  return /^(sqlite|memory):/.test(address)
}

/**
 * The store of `demo` and `lab`, which write their own streams from several processes: the one of `--store`, else the
 * embedded store; never one named by the environment.
 */
export async function ownAddress(command: string, options: GlobalOptions, runtime: Runtime): Promise<string> {
  if ((options.context ?? options.container) !== undefined)
    throw new UsageError(`${command} takes neither -c nor --container`, {
      hint: 'It writes to the store of --store, or to the embedded store.',
    })
  const address = options.store ?? (await runtime.embeddedAddress())
  if (address === 'memory:')
    throw new UsageError('other processes cannot reach memory:', {
      hint: `Leave --store out, or use a file or azurite:${command}.`,
    })
  return address
}

/** Default of `--lease-wait`, ms. */
export const DEFAULT_LEASE_WAIT_MS = 10_000

/**
 * The options of a change: who, why, command id, lease. `purpose` is shown to others while the lease is held. The first
 * Ctrl-C only stops waiting for a lease: a change in flight finishes, because a sent write cannot be withdrawn.
 */
export function transactOptions(
  flags: ChangeFlags,
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
  }
}

function authorship(flags: ChangeFlags, commandId: string, runtime: Runtime): Authorship {
  return {
    commandId,
    by: flags.by ?? runtime.actor,
    ...defined({ why: flags.reason }),
  }
}
