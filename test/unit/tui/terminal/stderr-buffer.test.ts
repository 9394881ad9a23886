import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { StderrBuffer, type StderrSource } from '../../../../src/tui/terminal/stderr-buffer.ts'

function talker(isTTY: boolean) {
  const events = new EventEmitter()
  const told: string[] = []
  events.on('warning', (warning: Error) => told.push(`warned: ${warning.message}`))
  const stderr = {
    isTTY,
    write(text: string) {
      told.push(text)
      return true
    },
  } as unknown as StderrSource['stderr']
  return { talker: { stderr, events }, events, stderr, told }
}

test('messages during the screen are written when it is closed', async () => {
  const { talker: process, events, stderr, told } = talker(true)
  const held = new StderrBuffer(process)
  await new Promise<void>(resolve => stderr.write('finishing\n', () => resolve()))
  stderr.write(Buffer.from('more\n'))
  events.emit('warning', new Error('experimental'))
  expect(told).toEqual([])
  held.release()
  expect(told).toEqual(['finishing\nmore\n', 'warned: experimental'])
  stderr.write('after')
  events.emit('warning', new Error('late'))
  held.release()
  expect(told.slice(2)).toEqual(['after', 'warned: late'])
  expect(events.eventNames()).toEqual(['warning'])
})

test('a standard error that is a file gets all messages at once', () => {
  const { talker: process, events, stderr, told } = talker(false)
  const held = new StderrBuffer(process)
  stderr.write('one')
  events.emit('warning', new Error('two'))
  expect(told).toEqual(['one', 'warned: two'])
  held.release()
  expect(told).toHaveLength(2)
})

test('of very long output only the beginning is kept', () => {
  const { talker: process, stderr, told } = talker(true)
  const held = new StderrBuffer(process)
  for (let at = 0; at < 100; at++) stderr.write('x'.repeat(10_000))
  held.release()
  expect(told.join('').length).toBeLessThanOrEqual(64_000)
})
