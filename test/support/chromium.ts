import { spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The path of Chromium; `undefined` where it is not installed. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const all = folders.flatMap(folder => ['chromium', 'chromium-browser'].map(name => join(folder, name)))
  return all.find(path => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** A page in a headless browser of its own. */
export interface BrowserPage {
  /** Loads a page and waits for its `load` event. */
  open(url: string): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** The value of an expression. The policy of the page does not apply to it. */
  evaluate(expression: string): Promise<unknown>
  /** The page as a PDF file. */
  print(): Promise<Buffer>
  /** Addresses of all requests. */
  readonly requests: readonly string[]
  /** Messages of the console and of the browser: errors, refusals by the policy. */
  readonly messages: readonly string[]
  close(): Promise<void>
}

interface Answer {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

/** Starts Chromium, and opens an empty page through its DevTools protocol. */
export async function openBrowser(program: string): Promise<BrowserPage> {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-chromium-'))
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
  const child = spawn(program, [...flags, '--remote-debugging-port=0', `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const socket = new WebSocket(await devToolsAddress(child.stderr))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  const page = await attach(socket)
  return {
    ...page,
    async close() {
      socket.close()
      child.kill()
      await ended
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function devToolsAddress(stderr: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    stderr.on('data', (part: Buffer) => {
      text += part.toString()
      const address = /DevTools listening on (ws:\S+)/.exec(text)?.[1]
      if (address !== undefined) resolve(address)
    })
    stderr.on('end', () => reject(new Error(`Chromium ended: ${text}`)))
  })
}

async function attach(socket: WebSocket): Promise<Omit<BrowserPage, 'close'>> {
  const waiting = new Map<number, (answer: Answer) => void>()
  const requests: string[] = []
  const messages: string[] = []
  let loaded = () => {}
  let last = 0
  let sessionId: string | undefined
  socket.addEventListener('message', ({ data }) => {
    const answer: Answer = JSON.parse(String(data))
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
    else if (answer.method === 'Page.loadEventFired') loaded()
    else if (answer.method === 'Network.requestWillBeSent')
      requests.push(String((answer.params?.request as { url?: unknown } | undefined)?.url))
    else if (['Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown'].includes(answer.method ?? ''))
      messages.push(JSON.stringify(answer.params))
  })
  const send = (method: string, params: object = {}): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id)
        if (error === undefined) resolve(result ?? {})
        else reject(new Error(`${method}: ${error.message}`))
      })
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    })
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
  const attached = await send('Target.attachToTarget', { targetId, flatten: true })
  sessionId = String(attached.sessionId)
  for (const domain of ['Page', 'Network', 'Log', 'Runtime']) await send(`${domain}.enable`)
  return {
    requests,
    messages,
    async open(url) {
      const load = new Promise<void>(resolve => {
        loaded = resolve
      })
      await send('Page.navigate', { url })
      await load
    },
    async resize(width, height) {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: true })
    },
    async evaluate(expression) {
      const { result } = await send('Runtime.evaluate', { expression, returnByValue: true })
      return (result as { value?: unknown } | undefined)?.value
    },
    async print() {
      const { data } = await send('Page.printToPDF', { printBackground: true })
      return Buffer.from(String(data), 'base64')
    },
  }
}
