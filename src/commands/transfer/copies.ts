import { CommandFailed, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type CopyOptions, type CopyOutcome, copyInto } from '../../ops/copy.ts'
import { lookAt, type Standing } from '../../ops/copy-standing.ts'
import { parseBody } from '../../ops/transact/plan.ts'
import { ContainerMissing } from '../../store/errors.ts'
import type { EventStore, Holder } from '../../store/store.ts'
import type { TransferFlags } from './flags.ts'

const DEFAULT_LEASE_WAIT_MS = 10_000

/** A store that documents are copied into. */
export interface Copies {
  /** @param existing what to do where another document has the name */
  put(name: string, body: Uint8Array, existing: CopyOptions['existing']): Promise<CopyOutcome>
  /** What stands there now; nothing is written. `undefined` for nothing. @throws BadDocument */
  look(name: string, body: Uint8Array): Promise<Standing | undefined>
}

/** @param purpose shown to others while a lease is held */
export function openCopies(store: EventStore, flags: TransferFlags, purpose: string, runtime: Runtime): Copies {
  const holder: Holder = {
    by: flags.by ?? runtime.actor,
    host: runtime.host,
    pid: runtime.pid,
    purpose,
    sinceMs: runtime.nowMs(),
  }
  const ready = containerMaker(store, flags)
  return {
    put: (name, body, existing) =>
      ready(() =>
        copyInto(store, name, body, {
          existing,
          holder,
          leaseWaitMs: flags.leaseWait ?? DEFAULT_LEASE_WAIT_MS,
          stopWaiting: runtime.signal,
        }),
      ),
    async look(name, body) {
      const document = parseBody(body, name)
      try {
        return await lookAt(store, name, { body, document })
      } catch (error) {
        // Where a container is to be made there is nothing yet.
        if (error instanceof ContainerMissing && mayCreate(store, flags)) return undefined
        throw error instanceof ContainerMissing ? containerProblem(error) : error
      }
    },
  }
}

function mayCreate(store: EventStore, { createContainer }: TransferFlags): boolean {
  return createContainer === true || store.address.startsWith('azurite:')
}

/** Does what finds the container missing once more after it was made, at most once for all. */
function containerMaker(store: EventStore, flags: TransferFlags) {
  let made: Promise<void> | undefined
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ContainerMissing)) throw error
      if (!mayCreate(store, flags)) throw containerProblem(error)
      made ??= store.createContainer()
      await made
      return work()
    }
  }
}

function containerProblem(error: ContainerMissing): CommandFailed {
  const hint = 'Repeat the command with --create-container.'
  return new CommandFailed(problem('container-missing', error.message, { cause: error, hint }))
}
