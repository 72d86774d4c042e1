import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Request, and the details of its 422: `type loc: msg ctx`; none if the request fits its schema. */
type Row = [request: string, ...details: string[]];

const watch = '"stream_url": "https://example.com/live.m3u8", "condition": "a ship enters the lock"';

/** Responses of FastAPI 0.165 with Pydantic 2.14. */
// oxfmt-ignore
const rows: Row[] = [
  ['POST /check-once {}', 'missing body.stream_url: Field required', 'missing body.condition: Field required'],
  ['POST /live-monitor {}', 'missing body.stream_url: Field required', 'missing body.condition: Field required'],
  ['POST /live-digest {}', 'missing body.stream_url: Field required'],
  ['POST /streams/validate {}', 'missing body.stream_url: Field required'],
  ['POST /analyze-frame {}', 'missing body.frame_b64: Field required', 'missing body.question: Field required'],
  ['POST /streams/validate {"stream_url": ""}', 'string_too_short body.stream_url: String should have at least 1 character {"min_length":1}'],
  [`POST /streams/validate {"stream_url": "${'x'.repeat(501)}"}`, 'string_too_long body.stream_url: String should have at most 500 characters {"max_length":500}'],
  ['POST /streams/validate {"stream_url": 7}', 'string_type body.stream_url: Input should be a valid string'],
  ['POST /streams/validate {"stream_url": null}', 'string_type body.stream_url: Input should be a valid string'],
  ['POST /streams/validate {"stream_url": true}', 'string_type body.stream_url: Input should be a valid string'],
  ['POST /streams/validate {"stream_url": ["https://example.com/live.m3u8"]}', 'string_type body.stream_url: Input should be a valid string'],
  ['POST /streams/validate {"stream_url": {"url": "https://example.com/live.m3u8"}}', 'string_type body.stream_url: Input should be a valid string'],
  ['POST /streams/validate {"stream_url": 1.5}', 'string_type body.stream_url: Input should be a valid string'],
  ['POST /check-once {"stream_url": "https://example.com/live.m3u8", "condition": ""}', 'string_too_short body.condition: String should have at least 1 character {"min_length":1}'],
  [`POST /check-once {"stream_url": "https://example.com/live.m3u8", "condition": "${'x'.repeat(1001)}"}`, 'string_too_long body.condition: String should have at most 1000 characters {"max_length":1000}'],
  [`POST /check-once {"stream_url": "https://example.com/live.m3u8", "condition": "${'😀'.repeat(1001)}"}`, 'string_too_long body.condition: String should have at most 1000 characters {"max_length":1000}'],
  [`POST /check-once {"stream_url": "https://example.com/live.m3u8", "condition": "${'é'.repeat(1000)}"}`],
  ['POST /check-once {"stream_url": "https://example.com/live.m3u8", "condition": 3}', 'string_type body.condition: Input should be a valid string'],
  [`POST /check-once {${watch}, "include_frame": "maybe"}`, 'bool_parsing body.include_frame: Input should be a valid boolean, unable to interpret input'],
  [`POST /check-once {${watch}, "include_frame": ""}`, 'bool_parsing body.include_frame: Input should be a valid boolean, unable to interpret input'],
  [`POST /check-once {${watch}, "include_frame": 2}`, 'bool_parsing body.include_frame: Input should be a valid boolean, unable to interpret input'],
  [`POST /check-once {${watch}, "include_frame": -1}`, 'bool_parsing body.include_frame: Input should be a valid boolean, unable to interpret input'],
  [`POST /check-once {${watch}, "include_frame": 0.5}`, 'bool_type body.include_frame: Input should be a valid boolean'],
  [`POST /check-once {${watch}, "include_frame": null}`, 'bool_type body.include_frame: Input should be a valid boolean'],
  [`POST /check-once {${watch}, "include_frame": []}`, 'bool_type body.include_frame: Input should be a valid boolean'],
  [`POST /check-once {${watch}, "include_frame": {}}`, 'bool_type body.include_frame: Input should be a valid boolean'],
  [`POST /check-once {${watch}, "include_frame": "TRUE"}`],
  [`POST /check-once {${watch}, "include_frame": "false"}`],
  [`POST /check-once {${watch}, "input_mode": "video"}`, "enum body.input_mode: Input should be 'frames', 'clip' or 'hybrid' {\"expected\":\"'frames', 'clip' or 'hybrid'\"}"],
  [`POST /check-once {${watch}, "input_mode": "Frames"}`, "enum body.input_mode: Input should be 'frames', 'clip' or 'hybrid' {\"expected\":\"'frames', 'clip' or 'hybrid'\"}"],
  [`POST /check-once {${watch}, "input_mode": ""}`, "enum body.input_mode: Input should be 'frames', 'clip' or 'hybrid' {\"expected\":\"'frames', 'clip' or 'hybrid'\"}"],
  [`POST /check-once {${watch}, "input_mode": null}`, "enum body.input_mode: Input should be 'frames', 'clip' or 'hybrid' {\"expected\":\"'frames', 'clip' or 'hybrid'\"}"],
  [`POST /check-once {${watch}, "input_mode": 1}`, "enum body.input_mode: Input should be 'frames', 'clip' or 'hybrid' {\"expected\":\"'frames', 'clip' or 'hybrid'\"}"],
  [`POST /check-once {${watch}, "input_mode": ["clip"]}`, "enum body.input_mode: Input should be 'frames', 'clip' or 'hybrid' {\"expected\":\"'frames', 'clip' or 'hybrid'\"}"],
  [`POST /check-once {${watch}, "clip_duration_seconds": 0}`, 'greater_than_equal body.clip_duration_seconds: Input should be greater than or equal to 1 {"ge":1}'],
  [`POST /check-once {${watch}, "clip_duration_seconds": 11}`, 'less_than_equal body.clip_duration_seconds: Input should be less than or equal to 10 {"le":10}'],
  [`POST /check-once {${watch}, "clip_duration_seconds": "0"}`, 'greater_than_equal body.clip_duration_seconds: Input should be greater than or equal to 1 {"ge":1}'],
  [`POST /check-once {${watch}, "clip_duration_seconds": "11"}`, 'less_than_equal body.clip_duration_seconds: Input should be less than or equal to 10 {"le":10}'],
  [`POST /check-once {${watch}, "clip_duration_seconds": 2.5}`, 'int_from_float body.clip_duration_seconds: Input should be a valid integer, got a number with a fractional part'],
  [`POST /check-once {${watch}, "clip_duration_seconds": "two"}`, 'int_parsing body.clip_duration_seconds: Input should be a valid integer, unable to parse string as an integer'],
  [`POST /check-once {${watch}, "clip_duration_seconds": ""}`, 'int_parsing body.clip_duration_seconds: Input should be a valid integer, unable to parse string as an integer'],
  [`POST /check-once {${watch}, "clip_duration_seconds": null}`, 'int_type body.clip_duration_seconds: Input should be a valid integer'],
  [`POST /check-once {${watch}, "clip_duration_seconds": []}`, 'int_type body.clip_duration_seconds: Input should be a valid integer'],
  [`POST /check-once {${watch}, "clip_duration_seconds": {}}`, 'int_type body.clip_duration_seconds: Input should be a valid integer'],
  [`POST /check-once {${watch}, "clip_duration_seconds": "3"}`],
  [`POST /check-once {${watch}, "clip_duration_seconds": " 3 "}`],
  [`POST /check-once {${watch}, "clip_duration_seconds": "+3"}`],
  [`POST /check-once {${watch}, "clip_duration_seconds": "3.0"}`],
  [`POST /check-once {${watch}, "clip_duration_seconds": 3.0}`],
  [`POST /check-once {${watch}, "clip_duration_seconds": "03"}`],
  [`POST /live-monitor {${watch}, "webhook_url": ""}`, 'string_too_short body.webhook_url: String should have at least 1 character {"min_length":1}'],
  [`POST /live-monitor {${watch}, "webhook_url": "${'x'.repeat(2084)}"}`, 'string_too_long body.webhook_url: String should have at most 2083 characters {"max_length":2083}'],
  [`POST /live-monitor {${watch}, "webhook_url": 5}`, 'string_type body.webhook_url: Input should be a valid string'],
  [`POST /live-monitor {${watch}, "webhook_url": null}`],
  [`POST /live-monitor {${watch}, "interval_seconds": 4}`, 'greater_than_equal body.interval_seconds: Input should be greater than or equal to 5 {"ge":5}'],
  [`POST /live-monitor {${watch}, "interval_seconds": 301}`, 'less_than_equal body.interval_seconds: Input should be less than or equal to 300 {"le":300}'],
  [`POST /live-monitor {${watch}, "interval_seconds": 9007199254740993}`, 'less_than_equal body.interval_seconds: Input should be less than or equal to 300 {"le":300}'],
  [`POST /live-monitor {${watch}, "interval_seconds": -9007199254740993}`, 'greater_than_equal body.interval_seconds: Input should be greater than or equal to 5 {"ge":5}'],
  [`POST /live-monitor {${watch}, "interval_seconds": 1000000000000000000000000000000}`, 'less_than_equal body.interval_seconds: Input should be less than or equal to 300 {"le":300}'],
  [`POST /live-monitor {${watch}, "interval_seconds": "999999999999999999999999999999"}`, 'less_than_equal body.interval_seconds: Input should be less than or equal to 300 {"le":300}'],
  [`POST /live-monitor {${watch}, "monitor_duration_seconds": 4}`, 'greater_than_equal body.monitor_duration_seconds: Input should be greater than or equal to 5 {"ge":5}'],
  [`POST /live-monitor {${watch}, "monitor_duration_seconds": -1}`, 'greater_than_equal body.monitor_duration_seconds: Input should be greater than or equal to 5 {"ge":5}'],
  [`POST /live-monitor {${watch}, "monitor_duration_seconds": "1e3"}`, 'int_parsing body.monitor_duration_seconds: Input should be a valid integer, unable to parse string as an integer'],
  [`POST /live-monitor {${watch}, "monitor_duration_seconds": "10 seconds"}`, 'int_parsing body.monitor_duration_seconds: Input should be a valid integer, unable to parse string as an integer'],
  [`POST /live-monitor {${watch}, "monitor_duration_seconds": "1.5"}`, 'int_parsing body.monitor_duration_seconds: Input should be a valid integer, unable to parse string as an integer'],
  [`POST /live-monitor {${watch}, "trigger_cooldown_seconds": -1}`, 'greater_than_equal body.trigger_cooldown_seconds: Input should be greater than or equal to 0 {"ge":0}'],
  [`POST /live-monitor {${watch}, "trigger_cooldown_seconds": 3601}`, 'less_than_equal body.trigger_cooldown_seconds: Input should be less than or equal to 3600 {"le":3600}'],
  [`POST /live-monitor {${watch}, "trigger_cooldown_seconds": 0}`],
  [`POST /live-monitor {${watch}, "max_triggers": 0}`, 'greater_than_equal body.max_triggers: Input should be greater than or equal to 1 {"ge":1}'],
  [`POST /live-monitor {${watch}, "max_triggers": "many"}`, 'int_parsing body.max_triggers: Input should be a valid integer, unable to parse string as an integer'],
  [`POST /live-monitor {${watch}, "max_triggers": 1.5}`, 'int_from_float body.max_triggers: Input should be a valid integer, got a number with a fractional part'],
  [`POST /live-monitor {${watch}, "max_triggers": null}`],
  [`POST /live-monitor {${watch}, "max_triggers": "2"}`],
  [`POST /live-monitor {${watch}, "enable_prefilter": "off course"}`, 'bool_parsing body.enable_prefilter: Input should be a valid boolean, unable to interpret input'],
  [`POST /live-monitor {${watch}, "enable_prefilter": 7}`, 'bool_parsing body.enable_prefilter: Input should be a valid boolean, unable to interpret input'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "window_minutes": 0}', 'greater_than_equal body.window_minutes: Input should be greater than or equal to 1 {"ge":1}'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "window_minutes": 61}', 'less_than_equal body.window_minutes: Input should be less than or equal to 60 {"le":60}'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "capture_interval_seconds": 9}', 'greater_than_equal body.capture_interval_seconds: Input should be greater than or equal to 10 {"ge":10}'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "capture_interval_seconds": 301}', 'less_than_equal body.capture_interval_seconds: Input should be less than or equal to 300 {"le":300}'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "max_windows": 0}', 'greater_than_equal body.max_windows: Input should be greater than or equal to 1 {"ge":1}'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "max_windows": null}'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "max_windows": "two"}', 'int_parsing body.max_windows: Input should be a valid integer, unable to parse string as an integer'],
  ['POST /live-digest {"stream_url": "https://example.com/live.m3u8", "include_frames": "sometimes"}', 'bool_parsing body.include_frames: Input should be a valid boolean, unable to interpret input'],
  ['POST /analyze-frame {"question": "What is it?", "frame_b64": ""}', 'string_too_short body.frame_b64: String should have at least 1 character {"min_length":1}'],
  ['POST /analyze-frame {"question": "What is it?", "frame_b64": 5}', 'string_type body.frame_b64: Input should be a valid string'],
  ['POST /analyze-frame {"question": "What is it?", "frame_b64": null}', 'string_type body.frame_b64: Input should be a valid string'],
  ['POST /analyze-frame {"frame_b64": "AAAA", "question": ""}', 'string_too_short body.question: String should have at least 1 character {"min_length":1}'],
  [`POST /analyze-frame {"frame_b64": "AAAA", "question": "${'x'.repeat(1001)}"}`, 'string_too_long body.question: String should have at most 1000 characters {"max_length":1000}'],
  ['POST /analyze-frame {"frame_b64": "AAAA", "question": null}', 'string_type body.question: Input should be a valid string'],
  ['POST /live-monitor {"stream_url": "", "condition": 7, "interval_seconds": "x", "input_mode": "y", "enable_prefilter": "z"}', 'string_too_short body.stream_url: String should have at least 1 character {"min_length":1}', 'string_type body.condition: Input should be a valid string', 'int_parsing body.interval_seconds: Input should be a valid integer, unable to parse string as an integer', "enum body.input_mode: Input should be 'frames', 'clip' or 'hybrid' {\"expected\":\"'frames', 'clip' or 'hybrid'\"}", 'bool_parsing body.enable_prefilter: Input should be a valid boolean, unable to interpret input'],
  [`POST /live-monitor {${watch}, "colour": "green", "__proto__": {"stream_url": 1}}`],
  ['POST /streams/validate ', 'missing body: Field required'],
  ['POST /streams/validate  ', 'json_invalid body.1: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate {', 'json_invalid body.1: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ['POST /streams/validate {"a"', "json_invalid body.4: JSON decode error {\"error\":\"Expecting ':' delimiter\"}"],
  ['POST /streams/validate {"a":', 'json_invalid body.5: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate {"a":1', "json_invalid body.6: JSON decode error {\"error\":\"Expecting ',' delimiter\"}"],
  ['POST /streams/validate {"a":1,', 'json_invalid body.7: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ['POST /streams/validate {"a":1,}', 'json_invalid body.7: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ['POST /streams/validate {a:1}', 'json_invalid body.1: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ["POST /streams/validate {'a':1}", 'json_invalid body.1: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ['POST /streams/validate {,}', 'json_invalid body.1: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ['POST /streams/validate {1:2}', 'json_invalid body.1: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ['POST /streams/validate {"a" 1}', "json_invalid body.5: JSON decode error {\"error\":\"Expecting ':' delimiter\"}"],
  ['POST /streams/validate {"a":1 "b":2}', "json_invalid body.7: JSON decode error {\"error\":\"Expecting ',' delimiter\"}"],
  ['POST /streams/validate {"a":[1,2', "json_invalid body.9: JSON decode error {\"error\":\"Expecting ',' delimiter\"}"],
  ['POST /streams/validate [', 'json_invalid body.1: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate [[', 'json_invalid body.2: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate [1,]', 'json_invalid body.3: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate [1 2]', "json_invalid body.3: JSON decode error {\"error\":\"Expecting ',' delimiter\"}"],
  ['POST /streams/validate []]', 'json_invalid body.2: JSON decode error {"error":"Extra data"}'],
  ['POST /streams/validate {} {}', 'json_invalid body.3: JSON decode error {"error":"Extra data"}'],
  ['POST /streams/validate {}x', 'json_invalid body.2: JSON decode error {"error":"Extra data"}'],
  ['POST /streams/validate nul', 'json_invalid body.0: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate True', 'json_invalid body.0: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate +1', 'json_invalid body.0: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate {"a":01}', "json_invalid body.6: JSON decode error {\"error\":\"Expecting ',' delimiter\"}"],
  ['POST /streams/validate {"a":.5}', 'json_invalid body.5: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate {"a":1.}', "json_invalid body.6: JSON decode error {\"error\":\"Expecting ',' delimiter\"}"],
  ['POST /streams/validate {"a":-}', 'json_invalid body.5: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate {"a":1e}', "json_invalid body.6: JSON decode error {\"error\":\"Expecting ',' delimiter\"}"],
  ['POST /streams/validate {"a":tru}', 'json_invalid body.5: JSON decode error {"error":"Expecting value"}'],
  ['POST /streams/validate {"a":"x', 'json_invalid body.5: JSON decode error {"error":"Unterminated string starting at"}'],
  ['POST /streams/validate {"a":"\u0001"}', 'json_invalid body.6: JSON decode error {"error":"Invalid control character at"}'],
  ['POST /streams/validate {"a":"x\ny"}', 'json_invalid body.7: JSON decode error {"error":"Invalid control character at"}'],
  ['POST /streams/validate {"a":"\\q"}', 'json_invalid body.6: JSON decode error {"error":"Invalid \\\\escape"}'],
  ['POST /streams/validate {"a":"\\u12"}', 'json_invalid body.7: JSON decode error {"error":"Invalid \\\\uXXXX escape"}'],
  ['POST /streams/validate {"a":"\\ud83"}', 'json_invalid body.7: JSON decode error {"error":"Invalid \\\\uXXXX escape"}'],
  ['POST /streams/validate {"a":"\\', 'json_invalid body.5: JSON decode error {"error":"Unterminated string starting at"}'],
  ['POST /streams/validate {"é😀":1,}', 'json_invalid body.8: JSON decode error {"error":"Expecting property name enclosed in double quotes"}'],
  ['POST /streams/validate [1]', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['POST /streams/validate "text"', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['POST /streams/validate 1', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['POST /streams/validate null', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['POST /streams/validate \ufeff{}', 'missing body.stream_url: Field required'],
  ['GET /jobs?limit=0', 'greater_than_equal query.limit: Input should be greater than or equal to 1 {"ge":1}'],
  ['GET /jobs?limit=101', 'less_than_equal query.limit: Input should be less than or equal to 100 {"le":100}'],
  ['GET /jobs?limit=', 'int_parsing query.limit: Input should be a valid integer, unable to parse string as an integer'],
  ['GET /jobs?limit=ten', 'int_parsing query.limit: Input should be a valid integer, unable to parse string as an integer'],
  ['GET /jobs?limit=1.5', 'int_parsing query.limit: Input should be a valid integer, unable to parse string as an integer'],
  ['GET /jobs?limit=true', 'int_parsing query.limit: Input should be a valid integer, unable to parse string as an integer'],
  ['GET /jobs?limit=1&limit=x', 'int_parsing query.limit: Input should be a valid integer, unable to parse string as an integer'],
  ['GET /jobs?limit=x&limit=1'],
  ['GET /jobs?limit=+5'],
  ['GET /jobs?limit=%35'],
  ['GET /jobs?limit=5.0'],
  ['GET /jobs?offset=-1', 'greater_than_equal query.offset: Input should be greater than or equal to 0 {"ge":0}'],
  ['GET /jobs?offset=x', 'int_parsing query.offset: Input should be a valid integer, unable to parse string as an integer'],
  ['GET /jobs?status=lost', "enum query.status: Input should be 'pending', 'running', 'stopped', 'completed' or 'failed' {\"expected\":\"'pending', 'running', 'stopped', 'completed' or 'failed'\"}"],
  ['GET /jobs?status=', "enum query.status: Input should be 'pending', 'running', 'stopped', 'completed' or 'failed' {\"expected\":\"'pending', 'running', 'stopped', 'completed' or 'failed'\"}"],
  ['GET /jobs?job_type=video', "enum query.job_type: Input should be 'live-monitor' or 'live-digest' {\"expected\":\"'live-monitor' or 'live-digest'\"}"],
  ['GET /jobs?status=running&job_type=live-digest'],
  ['GET /jobs?colour=green'],
  ['GET /jobs?__proto__=1'],
  ['GET /jobs?limit=0&offset=-1&status=x', "enum query.status: Input should be 'pending', 'running', 'stopped', 'completed' or 'failed' {\"expected\":\"'pending', 'running', 'stopped', 'completed' or 'failed'\"}", 'greater_than_equal query.limit: Input should be greater than or equal to 1 {"ge":1}', 'greater_than_equal query.offset: Input should be greater than or equal to 0 {"ge":0}'],
  ['GET /jobs/nonsense', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid character: found `n` at 0 {"error":"invalid character: found `n` at 0"}'],
  ['GET /jobs/11111111-1111-1111-1111-11111111111', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid group length in group 4: expected 12, found 11 {"error":"invalid group length in group 4: expected 12, found 11"}'],
  ['GET /jobs/11111111-1111-1111-1111-1111111111111', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid group length in group 4: expected 12, found 13 {"error":"invalid group length in group 4: expected 12, found 13"}'],
  ['GET /jobs/11111111111111111111111111111111'],
  ['GET /jobs/11111111-1111-1111-1111', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid group count: expected 5, found 4 {"error":"invalid group count: expected 5, found 4"}'],
  ['GET /jobs/1111', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid length: found 4 {"error":"invalid length: found 4"}'],
  ['GET /jobs/-----', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid group count: expected 5, found 6 {"error":"invalid group count: expected 5, found 6"}'],
  ['GET /jobs/é', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid character: found `é` at 0 {"error":"invalid character: found `é` at 0"}'],
  ['GET /jobs/%F0%9F%98%80', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid character: found `😀` at 0 {"error":"invalid character: found `😀` at 0"}'],
  ['GET /jobs/111111111111111111111111111111111', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid length: found 33 {"error":"invalid length: found 33"}'],
  ['GET /jobs/11111111-11111-111-1111-111111111111', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid group length in group 1: expected 4, found 5 {"error":"invalid group length in group 1: expected 4, found 5"}'],
  ['GET /jobs/gggggggg-gggg-gggg-gggg-gggggggggggg', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid character: found `g` at 0 {"error":"invalid character: found `g` at 0"}'],
  ['GET /jobs/11111111-1111-1111-1111-11111111111g', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid character: found `g` at 35 {"error":"invalid character: found `g` at 35"}'],
  ['GET /jobs/%00', 'uuid_parsing path.job_id: Input should be a valid UUID, invalid character: found `\u0000` at 0 {"error":"invalid character: found `\\u0000` at 0"}'],
  ['GET /jobs/11111111-1111-1111-1111-111111111111'],
  ['GET /usage?from=2026-02-30&to=yesterday', 'date_parsing query.from: Input should be a valid date in the format YYYY-MM-DD', 'date_parsing query.to: Input should be a valid date in the format YYYY-MM-DD'],
];

// oxfmt-ignore
/** Content type of `{"stream_url":1}` for `/streams/validate`, and the details. */
const contentTypes: Row[] = [
  ['', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['text/plain', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['application/x-www-form-urlencoded', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['application/jsonp', 'model_attributes_type body: Input should be a valid dictionary or object to extract fields from'],
  ['application/json;', 'string_type body.stream_url: Input should be a valid string'],
  ['application/JSON; charset=utf-8', 'string_type body.stream_url: Input should be a valid string'],
  ['application/vnd.stream+json', 'string_type body.stream_url: Input should be a valid string'],
];

/** Orders of this service: parts of a request are validated from its path to its body. */
const ownRows: Row[] = [
  [
    'PATCH /watches/1111 {',
    'uuid_parsing path.watch_id: Input should be a valid UUID, invalid length: found 4 {"error":"invalid length: found 4"}',
  ],
  [
    'GET /jobs/1111/events?after=-1',
    'uuid_parsing path.job_id: Input should be a valid UUID, invalid length: found 4 {"error":"invalid length: found 4"}',
  ],
];

let world: World;
let key: string;
beforeEach(async () => {
  world = createWorld();
  const minted = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  key = minted.text;
});
afterEach(() => world.close());

/** Sends a request and returns the details of its 422. */
async function readDetails(request: string, contentType = 'application/json'): Promise<string[]> {
  const [, method = '', path = '', body] = /^(\w+) (\S+) ?(.*)$/s.exec(request) ?? [];
  const response = await createApp(world.c).request(`/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(contentType && { 'content-type': contentType }) },
    ...(method !== 'GET' && { body: new TextEncoder().encode(body) }),
  });
  if (response.status !== 422) return [];
  const { detail } = (await response.json()) as { detail: Detail[] };
  return detail.map(toText);
}

type Detail = { type: string; loc: (string | number)[]; msg: string; ctx?: Record<string, unknown> };

/** FastAPI names no next step, and this service does. */
function toText({ type, loc, msg, ctx }: Detail): string {
  const { remediation: _, ...rest } = ctx ?? {};
  const more = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  return `${type} ${loc.join('.')}: ${msg}${more}`;
}

test.each([...rows, ...ownRows])(
  'the request %.90s is refused with exactly its details, or accepted',
  async (request, ...details) => {
    expect(await readDetails(request)).toEqual(details);
  },
);

test.each(contentTypes)(
  'a body of the type %j is refused with exactly its details',
  async (contentType, ...details) => {
    expect(await readDetails('POST /streams/validate {"stream_url":1}', contentType)).toEqual(details);
  },
);
