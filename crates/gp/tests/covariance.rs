//! Empirical covariances: what is read, refused, clipped and reported.

use manyhands_gp::{Covariance, Error, Family, Kernel};

#[test]
fn an_empirical_kernel_reads_its_matrix() {
    let kernel = Kernel::empirical(Covariance::new(2, vec![2.0, 0.5, 0.5, 1.0]).unwrap()).with_variance(3.0).unwrap();
    assert_eq!(kernel.covariance(&[0.0], &[1.0]), 1.5);
    assert_eq!(kernel.variance_at(&[0.0]), 6.0);
    assert!(kernel.covariance(&[0.0], &[2.0]).is_nan());
    assert!(kernel.check_point(&[1.0]).is_ok());
    for bad in [2.0, -1.0, 0.5, f64::NAN] {
        assert!(matches!(kernel.check_point(&[bad]), Err(Error::NoSuchIndex { len: 2, .. })), "{bad}");
    }
    assert!(kernel.check_dimension(2).is_err());
    assert_eq!(kernel.family(), Family::Empirical);
    let refusal = Error::NoDerivative { family: "empirical" };
    assert_eq!(kernel.gradient(&[0.0], &[1.0], &mut [0.0]), Err(refusal.clone()));
    assert_eq!(kernel.mixed_derivative(&[0.0], &[1.0], &mut [0.0]), Err(refusal.clone()));
    assert_eq!(kernel.lipschitz(), Err(refusal));
}

#[test]
fn malformed_covariances_are_refused() {
    assert_eq!(Covariance::new(0, vec![]), Err(Error::Empty { what: "a covariance matrix" }));
    assert!(matches!(Covariance::new(2, vec![1.0; 3]), Err(Error::WrongLength { expected: 4, found: 3, .. })));
    assert!(matches!(Covariance::new(1, vec![f64::NAN]), Err(Error::NotFinite { .. })));
    assert_eq!(Covariance::new(2, vec![0.0; 4]), Err(Error::NoVariance { len: 2 }));
    let negative = Covariance::new(2, vec![1.0, 0.0, 0.0, -0.5]);
    assert_eq!(negative, Err(Error::NegativeVariance { index: 1, value: -0.5 }));
    let error = Covariance::new(2, vec![1.0, 0.2, 0.3, 1.0]).unwrap_err();
    let message = "covariance must be symmetric within 1e-9, got 0.3 at row 1, column 0 and 0.2 at row 0, column 1";
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_indefinite_covariance_is_refused_with_its_eigenvalue() {
    let Err(Error::Indefinite { eigenvalue, limit }) = Covariance::new(2, vec![1.0, 2.0, 2.0, 1.0]) else {
        panic!("the eigenvalues are 3 and -1")
    };
    assert!((eigenvalue + 1.0).abs() < 1e-14);
    assert_eq!(limit, -1e-6);
}

#[test]
fn a_slightly_negative_eigenvalue_is_clipped_and_reported() {
    let slack = 1e-8;
    let given = vec![1.0, 1.0 + slack, 1.0 + slack, 1.0];
    let covariance = Covariance::new(2, given.clone()).unwrap();
    let clipped = covariance.clipped().unwrap();
    assert_eq!(clipped.count, 1);
    assert!((clipped.lowest + slack).abs() < 4.0 * f64::EPSILON);
    assert_eq!(covariance.get(0, 1), covariance.get(1, 0));
    // The eigenvector is (1, -1) / sqrt(2): every entry moves by slack / 2.
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let expected = 1.0 + 0.5 * slack;
        assert!((covariance.get(i, j) - expected).abs() < 8.0 * f64::EPSILON);
    }
}

#[test]
fn rounding_is_symmetrized_and_not_called_clipping() {
    let ones = Covariance::new(3, vec![1.0; 9]).unwrap();
    assert_eq!((ones.clipped(), ones.get(0, 2), ones.len()), (None, 1.0, 3));
    let lopsided = Covariance::new(2, vec![1.0, 0.5, 0.5 + 1e-10, 1.0]).unwrap();
    assert_eq!(lopsided.get(0, 1), lopsided.get(1, 0));
    // A Gram matrix of rank 1 given to rounding.
    let x: Vec<f64> = (0..20).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let entries: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect();
    let gram = Covariance::new(20, entries.clone()).unwrap();
    assert_eq!(gram.clipped(), None);
    assert_eq!(gram.get(3, 7), entries[3 * 20 + 7]);
}
