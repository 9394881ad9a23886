import { spawn } from 'node:child_process'
import { MAX_TIMER_MS, within } from '../util/concurrency.ts'
import { executionStatus, type Observer } from './report.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface SystemdOptions {
  readonly env: Environment
  /** Id of this process. */
  readonly pid: number
  /** Whether the loop is alive; otherwise systemd's watchdog gets no message. */
  isAlive(): boolean
  /** A message could not be sent; reported once. It has no other consequence. */
  failed(message: string): void
  /** Calls `what` repeatedly until the returned function is called. */
  every?(ms: number, what: () => void): () => void
  /** Sends a message; default: `systemd-notify`. */
  readonly notify?: NotifyProgram
}

/** Notifies systemd: ready after the first sweep, alive at intervals, and stopping. */
export interface Systemd extends Observer {
  /** The drain begins. Resolves when the message is sent, or after a second. */
  stopping(): Promise<void>
  /** Sends no more messages. */
  close(): void
}

/**
 * Notifies systemd of the state of the watchdog if it was started by a unit of `Type=notify` (`NOTIFY_SOCKET`);
 * otherwise `undefined`. Node has no Unix datagram sockets, so messages are sent by the program `systemd-notify`.
 * https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
 */
export function openSystemd(options: SystemdOptions): Systemd | undefined {
  if (!options.env.NOTIFY_SOCKET) return undefined
  const send = senderOf(options)
  return {
    ...readyAfterFirst(send),
    stopping: () => within(1_000, send('STOPPING=1', 'STATUS=stopping')),
    close: beat(send, options),
  }
}

/** Notifies systemd's watchdog while the loop is alive. Messages do not pile up if systemd accepts none. */
function beat(send: Send, { env, pid, isAlive, every = everyInterval }: SystemdOptions): () => void {
  const everyMs = watchdogEveryMs(env, pid)
  if (everyMs === undefined) return () => {}
  let isSending = false
  return every(everyMs, async () => {
    if (isSending || !isAlive()) return
    isSending = true
    await send('WATCHDOG=1')
    isSending = false
  })
}

/**
 * Interval of the messages to systemd's watchdog, ms: half its timeout. `undefined` if systemd expects them from
 * another process id: then it watches a program in between, such as npx or a shell.
 */
function watchdogEveryMs({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  const usec = /^\d{1,15}$/.test(WATCHDOG_USEC ?? '') ? Number(WATCHDOG_USEC) : 0
  if (usec === 0 || (WATCHDOG_PID && WATCHDOG_PID !== String(pid))) return undefined
  return Math.min(Math.max(1, usec / 2000), MAX_TIMER_MS)
}

type Send = (...assignments: readonly string[]) => Promise<void>

/** Sends messages one after the other, so that systemd receives them in order. Reports the first failure. */
function senderOf({ env, notify = notifyProgram, failed }: SystemdOptions): Send {
  let last: Promise<void> = Promise.resolve()
  let hasReported = false
  const attempt = async (assignments: readonly string[]): Promise<void> => {
    const fault = await notify(assignments, env)
    if (fault === undefined || hasReported) return
    hasReported = true
    failed(fault)
  }
  return (...assignments) => {
    last = last.then(() => attempt(assignments))
    return last
  }
}

type Shown = 'watching' | 'breaker' | 'powerless' | 'failing'

/** Sends the status only when it changes, not after each pass: every message starts a process. */
function readyAfterFirst(send: Send): Observer {
  let isReady = false
  let isPowerless = false
  let shown: Shown | undefined
  const show = (what: Shown, text: string): void => {
    if (shown !== what) void send(...(isReady || what === 'failing' ? [] : ['READY=1']), `STATUS=${text}`)
    shown = what
  }
  return {
    passed(report) {
      const { breaker, watched } = report
      isPowerless = (executionStatus(report) ?? (isPowerless ? 'nothing' : 'some')) === 'nothing'
      if (breaker.isOpen) show('breaker', 'the circuit breaker is open: no event is ended')
      else if (isPowerless) show('powerless', 'no event can be ended: the store rejects all decisions')
      else show('watching', `watching ${watched} streams`)
      isReady = true
    },
    failed: ({ code }) => show('failing', `passes fail: ${code}`),
  }
}

function everyInterval(ms: number, what: () => void): () => void {
  const timer = setInterval(what, ms)
  timer.unref()
  return () => clearInterval(timer)
}

/** Sends one message; resolves with the reason of a failure, if any. Never rejects. */
type NotifyProgram = (
  assignments: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
) => Promise<string | undefined>

/** `systemd-notify` itself waits up to 5 s until systemd has received the message. */
const LONGEST_MS = 7_000

/**
 * Runs `systemd-notify` from PATH, without a shell. It inherits only the two variables it needs, no secrets. It stays
 * alive until systemd has received the message: without root privileges the message carries its own process id, which
 * systemd can only assign to the unit while it runs. Hence also `NotifyAccess=all`, and neither `--pid`, which would
 * make another process the main one, nor `--no-block`.
 */
export const notifyProgram: NotifyProgram = (assignments, { NOTIFY_SOCKET, PATH }) =>
  new Promise(resolve => {
    const fault = (error: unknown): void =>
      resolve(`systemd-notify cannot be started: ${error instanceof Error ? error.message : error}`)
    try {
      const child = spawn('systemd-notify', [...assignments], {
        env: { NOTIFY_SOCKET, PATH },
        stdio: 'ignore',
        timeout: LONGEST_MS,
        killSignal: 'SIGKILL',
      })
      child.on('error', fault)
      child.on('close', (code, signal) => {
        resolve(code === 0 ? undefined : `systemd-notify exited with ${code ?? signal}`)
      })
    } catch (error) {
      fault(error)
    }
  })
