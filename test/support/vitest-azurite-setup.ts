import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { SIZE } from '../guarantees/size.ts'
import { type Azurite, startAzurite } from './azurite-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A request to this port of 127.0.0.1 starts the shared Azurite, if necessary, and returns its port. */
    azuriteControlPort: number
  }
}

/**
 * The time for which an Azurite in memory is given to test files, ms, and its lifetime: ten minutes after its start it
 * stalls for minutes to clean up.
 */
const GIVEN_MS = 2 * 60_000
const ENDED_MS = 9.5 * 60_000

/** Tests of hours need one on disk, although that stalls every five seconds, longer and longer, to write its state. */
const IS_LONG = SIZE === 'nightly'

/** The Azurite of the whole run, started by the first test file that needs it: runs of pure tests do not pay for it. */
class SharedAzurite {
  readonly #all: Promise<Azurite>[] = []
  #latest: { readonly untilMs: number; readonly azurite: Promise<Azurite> } | undefined

  async port(): Promise<number> {
    if (this.#latest === undefined || this.#latest.untilMs < performance.now()) this.#latest = this.#begun()
    return (await this.#latest.azurite).port
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map(stopped))
  }

  #begun() {
    const azurite = startAzurite({ onDisk: IS_LONG })
    this.#all.push(azurite)
    if (IS_LONG) return { untilMs: Number.POSITIVE_INFINITY, azurite }
    setTimeout(() => void stopped(azurite), ENDED_MS).unref()
    return { untilMs: performance.now() + GIVEN_MS, azurite }
  }
}

/** One that failed to start cannot be stopped. */
async function stopped(azurite: Promise<Azurite>): Promise<void> {
  await (await azurite.catch(() => undefined))?.stop()
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = new SharedAzurite()
  const control = createServer((_request, response) => {
    shared.port().then(
      port => response.end(String(port)),
      error => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>(resolve => control.listen(0, '127.0.0.1', resolve))
  project.provide('azuriteControlPort', (control.address() as AddressInfo).port)
  return async () => {
    control.closeAllConnections()
    control.close()
    await shared.stop()
  }
}
