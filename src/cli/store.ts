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

/** Opens the store for a command. A changing one says where it writes if nobody named the place on the command line. */
export async function openStoreFor(options: GlobalOptions, runtime: Runtime, output: Output): Promise<StreamStore> {
  const opened = await runtime.openStore(storeChoice(options))
  const { store, address, source } = opened
  const line = `store: ${visibleText(address)}${opened.isProtected ? ', protected' : ''} (${sourceText(opened)})`
  const isUnasked = (source === 'azure' || source === 'current') && runtime.kind === 'writes'
  // with -o json stderr is for programs too
  if (isUnasked && options.output !== 'json' && options.output !== 'ndjson') await output.say(line)
  else await output.detail(line)
  return store
}

/** Where the address of a store came from, in words. */
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
      return 'the embedded one; --store, -c or LEASECTL_STORE name another'
    default:
      return source satisfies never
  }
}

/** The part of the options that names a store. */
export function storeChoice({ store, container, context }: GlobalOptions): StoreChoice {
  return defined({ store, container, context })
}

/** Of an embedded store that nobody has written to yet: that its file does not exist. `undefined` for all others. */
export function missingFile(address: string): string | undefined {
  const parsed = parseAddress(address)
  return parsed.kind === 'sqlite' && !existsSync(parsed.path) ? 'the file does not exist (yet)' : undefined
}

/** A mistyped path looks like an empty store, in which nothing can ever be wrong. @throws CommandFailed */
export function requireFile(address: string): void {
  const missing = missingFile(address)
  if (missing === undefined) return
  throw new CommandFailed(
    problem('container-missing', `there is no store in ${address}: ${missing}`, {
      hint: 'Is it the right path? The first stream makes the file.',
    }),
  )
}

/** A stream that was not found, with the reason if its store has no file: a mistyped path looks like an empty store. */
export function withMissingFile(what: Problem, address: string | undefined): Problem {
  if (what.code !== 'stream-not-found' || address === undefined || missingFile(address) === undefined) return what
  return { ...what, hint: `Is it the right store? ${address} does not exist (yet).` }
}

/** How often to look where nobody says otherwise, ms: a listing over the network is not asked for every second. */
export function usualIntervalMs({ address }: StreamStore): number {
  return isNear(address) ? 1_000 : 2_000
}

/** Whether a store is on this machine: what is asked of it costs neither money nor a network. */
export function isNear(address: string): boolean {
  return /^(sqlite|memory):/.test(address)
}

/**
 * Where a command writes that plays with streams of its own and other processes: in the store of `--store`, else in the
 * embedded one; never in one that the environment names.
 */
export async function ownAddress(command: string, options: GlobalOptions, runtime: Runtime): Promise<string> {
  if ((options.context ?? options.container) !== undefined)
    throw new UsageError(`${command} takes neither -c nor --container`, {
      hint: 'It writes to the store of --store, else to the embedded one.',
    })
  const address = options.store ?? (await runtime.embeddedAddress())
  if (address === 'memory:')
    throw new UsageError('other processes cannot reach memory:', {
      hint: `Leave --store out, or name a file or azurite:${command}.`,
    })
  return address
}

/** How long a change waits for a lease held by another where `--lease-wait` does not say, ms. */
export const DEFAULT_LEASE_WAIT_MS = 10_000

/**
 * Who, why, under which id and which lease. `purpose` is shown to others while the lease is held. The first
 * Ctrl-C ends only the wait for a lease: a change under way finishes, because a write that was sent cannot be taken back.
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
