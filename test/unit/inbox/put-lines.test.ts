import { expect, it } from 'vitest'
import { linesIn } from '../../../src/inbox/lines.ts'
import { LinesPut } from '../../../src/inbox/put-lines.ts'
import type { NewRecord } from '../../../src/inbox/record.ts'

it('counts as acknowledged only the lines before the first that is not: what a resumed put does again is counted then', async () => {
  const answers = new Map<string, PromiseWithResolvers<void>>()
  const writer = {
    isFull: false,
    room: async () => {},
    put: ({ id }: NewRecord) => {
      const answer = Promise.withResolvers<void>()
      answers.set(id, answer)
      return answer.promise
    },
  }
  const put = new LinesPut(writer, { fields: { id: ['id'] }, rejected: async () => {}, progressed: async () => {} })
  const lines = ['{"id":"a"}', 'bad', '', '{"id":"b"}', 'bad', '{"id":"c"}'].map(line => `${line}\n`)
  const running = put.run(ReadableStream.from([Buffer.from(lines.join(''))]))
  const answered = async (id: string) => {
    while (!answers.has(id)) await new Promise(resolve => setImmediate(resolve))
    answers.get(id)?.resolve()
    await new Promise(resolve => setImmediate(resolve))
  }
  await answered('c')
  await answered('b')
  expect(put).toMatchObject({ put: 2, rejected: 2, acknowledged: { lines: 0, bytes: 0, put: 0, rejected: 0 } })
  await answered('a')
  await running
  const bytes = lines.join('').length
  expect(put).toMatchObject({ put: 3, rejected: 2, acknowledged: { lines: 6, bytes, put: 3, rejected: 2 } })
})

it('puts no record that waited for room while one before it failed: it would overtake those of its key', async () => {
  const [failing, room] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const puts: string[] = []
  const writer = {
    get isFull() {
      return puts.length > 0
    },
    room: () => room.promise,
    put: ({ id }: NewRecord) => {
      puts.push(id)
      return failing.promise
    },
  }
  const put = new LinesPut(writer, { fields: { id: ['id'] }, rejected: async () => {}, progressed: async () => {} })
  const running = put.run(ReadableStream.from([Buffer.from('{"id":"a"}\n{"id":"b"}\n')]))
  while (puts.length === 0) await new Promise(resolve => setImmediate(resolve))
  // As a block that failed makes room.
  failing.reject(new Error('away'))
  room.resolve()
  await expect(running).rejects.toThrow('away')
  expect(puts).toEqual(['a'])
})

it('gives the lines of a chunk that is nothing but line feeds in parts', async () => {
  const parts: number[] = []
  const numbers: number[] = []
  for await (const lines of linesIn(ReadableStream.from([Buffer.alloc(2_500, '\n')]), 100)) {
    parts.push(lines.length)
    numbers.push(...lines.map(({ number }) => number))
  }
  expect(parts).toEqual([1_000, 1_000, 500])
  expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, at) => at + 1))
})
