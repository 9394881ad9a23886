import { expect, it } from 'vitest'
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
