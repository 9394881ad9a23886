import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Term } from '../../../../src/tui/terminal/terminal.ts'
import { type EmulatedTerminal, openTerminal } from '../support/terminal.ts'

/** A process that does not end. */
class Host {
  readonly events = new EventEmitter()
  readonly terminal: EmulatedTerminal
  stops = 0
  /** Whether there was a listener for the stop signal when it arrived: then it would not have stopped the process. */
  wasHeard: boolean | undefined

  constructor(terminal: EmulatedTerminal) {
    this.terminal = terminal
  }

  writeNow(text: string): void {
    this.terminal.stdout.write(text)
  }

  stopJob(): void {
    this.stops += 1
    this.wasHeard = this.events.listenerCount('SIGTSTP') > 0
  }

  readSize(): void {}
}

/** DEC modes after the bytes: `?7` → on or off. */
function modes(written: string): Record<string, 'h' | 'l'> {
  const found: Record<string, 'h' | 'l'> = {}
  for (const [, mode = '', value] of written.matchAll(/\x1b\[\?(\d+)([hl])/g)) found[mode] = value === 'h' ? 'h' : 'l'
  return found
}

const TAKEN = { 1049: 'h', 25: 'l', 7: 'l', 2004: 'h' }
const AS_BEFORE = { 1049: 'l', 25: 'h', 7: 'h', 2004: 'l' }

describe('the modes of the terminal', () => {
  let terminal: EmulatedTerminal
  let host: Host
  let term: Term
  let told: string[]
  beforeEach(() => {
    vi.useFakeTimers()
    terminal = openTerminal({ columns: 40, rows: 5 })
    host = new Host(terminal)
    told = []
    const handlers = {
      onStop: (signal: string) => told.push(signal),
      onFault: (error: unknown) => told.push(`fault: ${error}`),
      onResume: () => told.push('resume'),
    }
    term = new Term(terminal.stdin, terminal.stdout, handlers, host)
  })
  afterEach(() => {
    term.close()
    vi.useRealTimers()
  })

  function open(): void {
    term.open()
    term.enterScreen()
  }

  test('keys are read before anything is written', () => {
    term.open()
    expect(terminal.rawModes).toEqual([true])
    expect(terminal.written).toBe('')
  })

  test('are set, and restored on closing, once', () => {
    open()
    expect(modes(terminal.written)).toEqual(TAKEN)
    term.close()
    expect(modes(terminal.written)).toMatchObject(AS_BEFORE)
    expect(terminal.rawModes).toEqual([true, false])
    const written = terminal.written.length
    term.close()
    host.events.emit('exit')
    expect(terminal.written.length).toBe(written)
    expect(host.events.eventNames()).toEqual([])
  })

  test('are restored when the process ends without closing', () => {
    open()
    host.events.emit('exit')
    expect(modes(terminal.written)).toMatchObject(AS_BEFORE)
    expect(terminal.rawModes.at(-1)).toBe(false)
  })

  test('are not written by a close before the screen was taken', () => {
    term.open()
    term.close()
    host.events.emit('exit')
    expect(terminal.written).toBe('')
    expect(terminal.rawModes).toEqual([true, false])
  })

  test('a hangup stops the dashboard without an error', () => {
    open()
    host.events.emit('SIGHUP', 'SIGHUP')
    expect(told).toEqual(['SIGHUP'])
  })

  test.each(['EIO', 'EPIPE', 'ENOTTY'])('%s means that the terminal is gone', code => {
    open()
    terminal.stdin.emit('error', Object.assign(new Error('read'), { code }))
    terminal.stdout.emit('error', Object.assign(new Error('write'), { code }))
    expect(told).toEqual(['SIGHUP', 'SIGHUP'])
  })

  test('a lost terminal has no modes to restore', () => {
    open()
    terminal.stdin.setRawMode = () => {
      throw Object.assign(new Error('setRawMode EIO'), { code: 'EIO' })
    }
    expect(() => term.close()).not.toThrow()
  })

  test('uncaught errors are passed on', () => {
    open()
    host.events.emit('uncaughtException', new Error('a bug'))
    host.events.emit('unhandledRejection', new Error('another'))
    expect(told).toEqual(['fault: Error: a bug', 'fault: Error: another'])
  })

  describe('Ctrl-Z', () => {
    test('restores the terminal, stops, and takes it again when continued', () => {
      open()
      term.suspend()
      expect(modes(terminal.written)).toMatchObject(AS_BEFORE)
      expect(terminal.rawModes.at(-1)).toBe(false)
      expect([host.stops, host.wasHeard, term.isSuspended]).toEqual([1, false, true])
      host.events.emit('SIGCONT')
      expect(modes(terminal.written)).toMatchObject(TAKEN)
      expect(terminal.rawModes.at(-1)).toBe(true)
      expect([told, term.isSuspended]).toEqual([['resume'], false])
      vi.runAllTimers()
      expect(told).toEqual(['resume'])
    })

    test('continues if the system does not stop it', () => {
      open()
      term.suspend()
      vi.runAllTimers()
      expect(modes(terminal.written)).toMatchObject(TAKEN)
      expect(told).toEqual(['resume'])
    })

    test('works again, also with a signal from another process', () => {
      open()
      term.suspend()
      host.events.emit('SIGCONT')
      host.events.emit('SIGTSTP')
      expect([host.stops, host.wasHeard]).toEqual([2, false])
    })

    test('writes nothing on an exit meanwhile: the terminal belongs to the shell', () => {
      open()
      term.suspend()
      const written = terminal.written.length
      host.events.emit('exit')
      term.close()
      expect(terminal.written.length).toBe(written)
    })

    test('after an unannounced stop from another process, all modes are set again', () => {
      open()
      const before = terminal.rawModes.length
      host.events.emit('SIGCONT')
      // Node sets no mode that it believes to be set
      expect(terminal.rawModes.slice(before)).toEqual([false, true])
      expect(told).toEqual(['resume'])
    })
  })
})
