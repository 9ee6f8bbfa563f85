;; The source of the bytes in dot-products.ts; a test holds the two together.
(module
  (import "host" "memory" (memory 0))
  ;; Writes the dot product of a query with each of `count` vectors to `results`, as i32. The vectors are i8, one after the other,
  ;; the query is i16; `dimensions` is a multiple of 16.
  (func (export "dotProducts")
    (param $vectors i32) (param $count i32) (param $dimensions i32) (param $query i32) (param $results i32)
    (local $end i32) (local $place i32) (local $one v128) (local $other v128)
    (local.set $end (i32.add (local.get $vectors) (i32.mul (local.get $count) (local.get $dimensions))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $vectors) (local.get $end)))
        (local.set $one (v128.const i32x4 0 0 0 0))
        (local.set $other (v128.const i32x4 0 0 0 0))
        (local.set $place (i32.const 0))
        (loop $step
          (local.set $one (i32x4.add (local.get $one) (i32x4.dot_i16x8_s
            (v128.load8x8_s (i32.add (local.get $vectors) (local.get $place)))
            (v128.load (i32.add (local.get $query) (i32.shl (local.get $place) (i32.const 1)))))))
          (local.set $other (i32x4.add (local.get $other) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=8 (i32.add (local.get $vectors) (local.get $place)))
            (v128.load offset=16 (i32.add (local.get $query) (i32.shl (local.get $place) (i32.const 1)))))))
          (br_if $step (i32.lt_u (local.tee $place (i32.add (local.get $place) (i32.const 16))) (local.get $dimensions))))
        (local.set $one (i32x4.add (local.get $one) (local.get $other)))
        (i32.store (local.get $results) (i32.add
          (i32.add (i32x4.extract_lane 0 (local.get $one)) (i32x4.extract_lane 1 (local.get $one)))
          (i32.add (i32x4.extract_lane 2 (local.get $one)) (i32x4.extract_lane 3 (local.get $one)))))
        (local.set $vectors (i32.add (local.get $vectors) (local.get $dimensions)))
        (local.set $results (i32.add (local.get $results) (i32.const 4)))
        (br $next)))))
