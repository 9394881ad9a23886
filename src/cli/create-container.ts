import { ContainerMissing } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'

/** True if a missing container may be created: with `--create-container`, and always in the emulator and on this machine. */
export function mayCreateContainer(store: StreamStore, createContainer: boolean | undefined): boolean {
  return createContainer === true || /^(azurite|sqlite):/.test(store.address)
}

/**
 * Makes a function that runs work on a store. If the work finds the container missing and it may be created, the function
 * creates it, once for all calls, and repeats the work.
 *
 * @throws ContainerMissing if the container may not be created
 */
export function containerCreator(store: StreamStore, createContainer: boolean | undefined) {
  let created: Promise<void> | undefined
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ContainerMissing) || !mayCreateContainer(store, createContainer)) throw error
      created ??= store.createContainer()
      await created
      return work()
    }
  }
}
