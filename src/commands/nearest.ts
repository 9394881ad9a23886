export { nearest } from '../stream/nearest.ts'
