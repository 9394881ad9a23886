import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { COMPILED } from './compiled.ts'

/** A running emulator. */
export interface Azurite {
  readonly port: number
  /** The account's blob URL. */
  readonly url: string
  readonly connectionString: string
  stop(): Promise<void>
}

const MAIN = fileURLToPath(new URL('../../node_modules/azurite/dist/src/blob/main.js', import.meta.url))
/** Ends the emulator when its standard input ends, so that it never outlives this process, however that ends. */
const DIE_WITH_PARENT = 'data:text/javascript,process.stdin.on("end",()=>process.exit()).resume()'
/**
 * Keeps idle connections longer than any test lasts: a process suspended for the default five seconds would send its next
 * request over a closed connection, and never learn the outcome.
 */
const KEEP_CONNECTIONS =
  'data:text/javascript,import{Server}from"node:http";Object.defineProperty(Server.prototype,"keepAliveTimeout",{get:()=>36e5,set(){}})'
/** Node would keep the compiled code when the emulator ends, but it is killed: its next start takes a quarter less time. */
const KEEP_COMPILED =
  'data:text/javascript,import{flushCompileCache}from"node:module";setTimeout(flushCompileCache,5e3).unref()'
/** The emulator's well-known account. */
export const ACCOUNT = 'devstoreaccount1'
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/**
 * Starts Azurite's blob service on a free port of 127.0.0.1, as a child process: in memory, or in a folder of its own for
 * tests of more than ten minutes, because the one in memory then stalls for its garbage collection.
 */
export async function startAzurite({ onDisk = false }: { readonly onDisk?: boolean } = {}): Promise<Azurite> {
  const location = onDisk ? mkdtempSync(join(tmpdir(), 'leasectl-azurite-')) : undefined
  const persistence = location === undefined ? ['--inMemoryPersistence'] : ['--location', location]
  const flags = [...persistence, '--silent', '--disableTelemetry', '--skipApiVersionCheck']
  const preloaded = [DIE_WITH_PARENT, KEEP_CONNECTIONS, KEEP_COMPILED].flatMap(module => ['--import', module])
  const child = spawn(process.execPath, [...preloaded, MAIN, ...flags, '--blobPort', '0'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...COMPILED },
  })
  const port = await listeningPort(child)
  const url = `http://127.0.0.1:${port}/${ACCOUNT}`
  return { port, url, connectionString: connectionStringAt(port), stop: () => stop(child, location) }
}

/** The connection string of the emulator behind a port, for example of a proxy. */
export function connectionStringAt(port: number): string {
  const endpoint = `http://127.0.0.1:${port}/${ACCOUNT}`
  return `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${endpoint};`
}

async function listeningPort(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('no output of azurite')
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port === undefined) continue
    child.stdout.resume()
    return Number(port)
  }
  throw new Error('azurite ended before it listened')
}

async function stop(child: ChildProcess, location: string | undefined): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  if (location !== undefined) rmSync(location, { recursive: true, force: true })
}
