import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { Painter } from '../../../../src/tui/ink/painter.ts'
import { Term } from '../../../../src/tui/terminal/terminal.ts'
import { openTerminal } from '../support/terminal.ts'

test('nothing is written to a released screen, whatever Ink does when the process ends', async () => {
  const { stdin, stdout } = openTerminal({ columns: 20, rows: 2 })
  const events = new EventEmitter()
  const host = { events, writeNow: (text: string) => void stdout.write(text), stopJob() {}, readSize() {} }
  const term = new Term(stdin, stdout, { onStop() {}, onFault() {}, onResume() {} }, host)
  term.open()
  expect(term.hasScreen).toBe(false)
  term.enterScreen()
  expect(term.hasScreen).toBe(true)
  const frame = (text: string) => ({ columns: 20, rows: [{ spans: [[text, 'plain']] as const }] })
  const painter = new Painter(frame('first'), {
    ...{ stdin, stdout, theme: 'dark', nowMs: () => 0, onCost() {}, onFault() {} },
    mayWrite: () => term.hasScreen,
  })
  await painter.written()
  events.emit('exit', 1)
  expect(term.hasScreen).toBe(false)
  let written = ''
  const write = stdout.write.bind(stdout)
  stdout.write = ((text: string, ...rest: []) => {
    written += text
    return write(text, ...rest)
  }) as typeof stdout.write
  painter.repaint(() => frame('too late'), { columns: 20, rows: 2 })
  await painter.written()
  painter.close()
  expect(written).toBe('')
  term.close()
})
