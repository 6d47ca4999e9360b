//! Power laws by least squares on logarithms.

/// Exponents (a, b) of `seconds ~ x^a y^b` from points (x, y, seconds); b is none where y never changes.
pub fn exponents(points: &[(f64, f64, f64)]) -> (f64, Option<f64>) {
    let logs: Vec<[f64; 3]> = points.iter().map(|&(x, y, s)| [x.ln(), y.ln(), s.ln()]).collect();
    let mean = |i: usize| logs.iter().map(|l| l[i]).sum::<f64>() / logs.len() as f64;
    let means = [mean(0), mean(1), mean(2)];
    let moment = |i: usize, j: usize| logs.iter().map(|l| (l[i] - means[i]) * (l[j] - means[j])).sum::<f64>();
    let (xx, xy, yy, xs, ys) = (moment(0, 0), moment(0, 1), moment(1, 1), moment(0, 2), moment(1, 2));
    let determinant = xx * yy - xy * xy;
    if determinant <= 1e-12 * xx {
        return (xs / xx, None);
    }
    ((xs * yy - ys * xy) / determinant, Some((ys * xx - xs * xy) / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_a_power_law_are_found() {
        let sizes = [1e4, 1e5, 1e6];
        let law = |x: f64, y: f64| 3e-7 * x.powf(1.5) * y.powf(0.4);
        let points: Vec<_> = [250.0, 500.0, 1000.0].iter().flat_map(|&x| sizes.map(|y| (x, y, law(x, y)))).collect();
        let (a, b) = exponents(&points);
        assert!((a - 1.5).abs() < 1e-12 && (b.unwrap() - 0.4).abs() < 1e-12, "{a} {b:?}");
    }

    #[test]
    fn one_size_has_one_exponent() {
        let points = [(250.0, 1e4, 1.0), (500.0, 1e4, 4.0), (1000.0, 1e4, 16.0)];
        let (a, b) = exponents(&points);
        assert!((a - 2.0).abs() < 1e-12 && b.is_none());
    }
}
